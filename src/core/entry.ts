import {
  MAX_CONTENT_BYTES,
  MAX_METADATA_BYTES,
  MAX_METADATA_DEPTH,
  MAX_QUERY_BYTES,
  MAX_SOURCE_LENGTH,
  MAX_TAG_LENGTH,
  MAX_TAGS,
  MAX_TYPE_LENGTH,
} from './defaults.ts';
import { excerpt, invalidInput, type PalimpsestError } from './errors.ts';
import type { JsonObject, JsonValue, MemorySource } from './types.ts';

/**
 * The rules a memory entry's fields obey, each once. Every check returns the value it was given (lists and
 * objects as a copy, so that a caller may go on changing its own) or throws `invalid_input` with the field's
 * path. They take `unknown`: what arrives from a wire or from plain JavaScript is not what a type says.
 */

const NUL = '\0';
/** With the `u` flag a surrogate matches only where it has no partner. */
const LONE_SURROGATE = /\p{Cs}/u;
/** Something a reader can see: neither white space, nor a control character, nor an invisible one. */
const VISIBLE = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u;
/** The times an ISO 8601 date writes with a year of four digits; PostgreSQL stores all of them. */
const FIRST_TIME = Date.parse('0001-01-01T00:00:00.000Z');
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

function refused(field: string, value: unknown, fault: string, allowed: string): PalimpsestError {
  return invalidInput(`${field}: ${fault}. Got ${excerpt(value)}; allowed: ${allowed}.`, {
    path: field,
    got: excerpt(value),
    allowed,
  });
}

/** Number of bytes of a text in UTF-8. A lone surrogate counts as the three bytes of U+FFFD. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    bytes += 1;
    if (unit < 0x800) continue;
    const isPair = unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1));
    // A pair is two code units and four bytes: one more for each; anything else here is three bytes.
    bytes += 1;
    if (isPair) index += 1;
  }
  return bytes;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** What keeps a text from being stored as it is, or null. */
function textFault(text: string): string | null {
  if (text.includes(NUL)) return 'it holds a NUL character, which PostgreSQL cannot store';
  if (LONE_SURROGATE.test(text)) return 'it holds half of a surrogate pair, which is not a character';
  return null;
}

function checkText(value: unknown, field: string, allowed: string): string {
  if (typeof value !== 'string') throw refused(field, value, 'it is not a text', allowed);
  const fault = textFault(value);
  if (fault !== null) throw refused(field, value, fault, allowed);
  return value;
}

/**
 * Checks a text for storage: no NUL, well-formed Unicode, at most `maxLength` code points. It may be empty.
 *
 * @throws PalimpsestError `invalid_input`
 */
export function checkUserText(value: unknown, field: string, maxLength: number): string {
  const allowed = `a text of at most ${maxLength} characters without NUL`;
  // UTF-16 length first: it is free, and code points can only be half as many.
  if (typeof value === 'string' && value.length > maxLength) {
    const length = value.length > 2 * maxLength ? value.length : [...value].length;
    if (length > maxLength) throw refused(field, value, `it is longer than ${maxLength} characters`, allowed);
  }
  return checkText(value, field, allowed);
}

/** Checks a short name such as a type or a tag: like {@link checkUserText}, and not blank. */
export function checkWord(value: unknown, field: string, maxLength: number): string {
  const word = checkUserText(value, field, maxLength);
  if (isBlank(word)) throw refused(field, word, 'it is blank', `1 to ${maxLength} characters`);
  return word;
}

/** Whether there is nothing in a text that a reader can see. */
export function isBlank(text: string): boolean {
  return !VISIBLE.test(text);
}

function checkLongText(value: unknown, field: string, maxBytes: number, hint: string): string {
  const allowed = `a text that is not blank, at most ${maxBytes} bytes of UTF-8, without NUL`;
  const text = checkText(value, field, allowed);
  if (isBlank(text)) throw refused(field, text, `it is blank${hint}`, allowed);
  const bytes = utf8Length(text);
  if (bytes > maxBytes) throw refused(field, text, `it has ${bytes} bytes, more than ${maxBytes}`, allowed);
  return text;
}

/**
 * Checks an entry's content: not blank, no NUL, well-formed Unicode, at most 64 KiB of UTF-8.
 *
 * @throws PalimpsestError `invalid_input`
 */
export function checkContent(value: unknown, field = 'content'): string {
  return checkLongText(value, field, MAX_CONTENT_BYTES, '');
}

/**
 * Checks a query's text by the rules of content. A blank query is refused rather than read as browsing: a
 * caller whose query came out empty should hear of it.
 *
 * @throws PalimpsestError `invalid_input`
 */
export function checkQueryText(value: unknown, field = 'query'): string {
  return checkLongText(value, field, MAX_QUERY_BYTES, ' (leave it out to browse)');
}

/** Checks an entry's type: a word of the caller's, 1..64 characters. */
export function checkType(value: unknown, field = 'type'): string {
  return checkWord(value, field, MAX_TYPE_LENGTH);
}

/** Checks a list of at most 64 tags of 1..128 characters. A tag given twice counts once. */
export function checkTags(value: unknown, field = 'tags'): string[] {
  const allowed = `a list of at most ${MAX_TAGS} texts`;
  if (!Array.isArray(value)) throw refused(field, value, 'it is not a list', allowed);
  const tags = new Set(
    value.map((tag: unknown, index) => checkWord(tag, `${field}[${index}]`, MAX_TAG_LENGTH)),
  );
  if (tags.size > MAX_TAGS)
    throw refused(field, value, `it has ${tags.size} tags, more than ${MAX_TAGS}`, allowed);
  return [...tags];
}

/** Checks an importance: a number in [0, 1]. 0 is a value, and nothing is rounded. */
export function checkImportance(value: unknown, field = 'importance'): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
    throw refused(field, value, 'it is not a number between 0 and 1', 'a number in [0, 1]');
  }
  return value;
}

/** Checks a provenance: `kind`, and where it has one `ref`, of at most 512 characters each. */
export function checkSource(value: unknown, field = 'source'): MemorySource {
  const allowed = 'an object with kind and, optionally, ref';
  if (!isPlainObject(value)) throw refused(field, value, 'it is not an object', allowed);
  const unknownKey = Object.keys(value).find((key) => key !== 'kind' && key !== 'ref');
  if (unknownKey !== undefined)
    throw refused(`${field}.${unknownKey}`, value[unknownKey], 'unknown field', allowed);
  const kind = checkWord(value.kind, `${field}.kind`, MAX_SOURCE_LENGTH);
  return value.ref === undefined
    ? { kind }
    : { kind, ref: checkWord(value.ref, `${field}.ref`, MAX_SOURCE_LENGTH) };
}

/** Checks a time: a `Date` that means one, in the years 1 to 9999. */
export function checkTime(value: unknown, field: string): Date {
  const allowed = 'a date and time in the years 0001 to 9999';
  if (!(value instanceof Date)) throw refused(field, value, 'it is not a date', allowed);
  const time = value.getTime();
  if (!(time >= FIRST_TIME && time <= LAST_TIME)) throw refused(field, time, 'it is not a time', allowed);
  return new Date(time);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

/**
 * Copies JSON while checking it. The bytes are counted on the way down, so that neither a cycle nor an object
 * that holds one part many times over (2³² leaves at depth 32) is walked to its end.
 */
function jsonCopier(root: string) {
  let bytes = 0;
  const count = (more: number) => {
    bytes += more;
    if (bytes > MAX_METADATA_BYTES) {
      throw invalidInput(`${root}: it has more than ${MAX_METADATA_BYTES} bytes as JSON.`, {
        path: root,
        allowed: `at most ${MAX_METADATA_BYTES} bytes as JSON`,
      });
    }
  };
  const copyText = (text: string, field: string, what: string): string => {
    const fault = textFault(text);
    if (fault !== null) throw refused(field, text, `${what}: ${fault}`, 'text without NUL, well-formed');
    count(utf8Length(JSON.stringify(text)));
    return text;
  };
  const enter = (depth: number) => {
    if (depth <= MAX_METADATA_DEPTH) return;
    const allowed = `at most ${MAX_METADATA_DEPTH} levels`;
    throw invalidInput(`${root}: it is nested deeper than ${MAX_METADATA_DEPTH} levels.`, {
      path: root,
      allowed,
    });
  };
  const copyArray = (list: readonly unknown[], field: string, depth: number): JsonValue[] => {
    enter(depth);
    count(2 + Math.max(0, list.length - 1));
    // `Array.from` visits holes too, and finds `undefined` in them.
    return Array.from(list, (item, index) => copy(item, `${field}[${index}]`, depth));
  };
  const copyObject = (object: Record<string, unknown>, field: string, depth: number): JsonObject => {
    enter(depth);
    const keys = Object.keys(object);
    count(2 + Math.max(0, keys.length - 1) + keys.length);
    // `fromEntries` defines properties, so that a key named `__proto__` stays an ordinary key.
    return Object.fromEntries(
      keys.map((key) => [
        copyText(key, field, 'a key is wrong'),
        copy(object[key], `${field}.${key}`, depth),
      ]),
    );
  };
  const copy = (value: unknown, field: string, depth: number): JsonValue => {
    if (typeof value === 'string') return copyText(value, field, 'the text is wrong');
    if (value === null || typeof value === 'boolean') {
      count(String(value).length);
      return value;
    }
    if (typeof value === 'number' && Number.isFinite(value)) {
      count(writtenOutLength(value));
      return value;
    }
    if (Array.isArray(value)) return copyArray(value, field, depth + 1);
    if (isPlainObject(value)) return copyObject(value, field, depth + 1);
    throw refused(
      field,
      value,
      'it is not a JSON value',
      'text, finite number, true, false, null, list, object',
    );
  };
  return { copyObject };
}

/** Characters of a number without an exponent, as PostgreSQL writes it: 1e300 is three hundred zeros there. */
function writtenOutLength(value: number): number {
  const text = String(value);
  const parts = /^(?<head>-?\d)(?:\.(?<fraction>\d+))?e(?<exponent>[+-]\d+)$/.exec(text)?.groups;
  if (parts === undefined) return text.length;
  const { head = '', fraction = '', exponent } = parts;
  const places = Number(exponent);
  if (places < 0) return head.length + '.'.length - places + fraction.length;
  return head.length + Math.max(places, fraction.length);
}

/**
 * Checks an entry's metadata: a JSON object, nested at most 32 deep, at most 64 KiB as JSON (numbers without
 * exponents, as they are stored), finite numbers, no NUL and no lone surrogate in keys or values. `undefined`,
 * functions, dates and instances of classes are refused rather than dropped or converted.
 *
 * @returns A copy.
 * @throws PalimpsestError `invalid_input`, with the path of the offending value
 */
export function checkMetadata(value: unknown, field = 'metadata'): JsonObject {
  if (!isPlainObject(value)) throw refused(field, value, 'it is not an object', 'a JSON object');
  return jsonCopier(field).copyObject(value, field, 1);
}

/**
 * Metadata of a refreshed entry: the old keys, overwritten by the new ones (top level only: a nested object
 * is replaced whole).
 *
 * @throws PalimpsestError `invalid_input` when the two together are too large
 */
export function mergeMetadata(old: JsonObject, update: JsonObject): JsonObject {
  return checkMetadata({ ...old, ...update });
}

/**
 * Tags of a refreshed entry: the union, the old ones first.
 *
 * @throws PalimpsestError `invalid_input` when there are too many together
 */
export function mergeTags(old: readonly string[], update: readonly string[]): string[] {
  return checkTags([...old, ...update]);
}
