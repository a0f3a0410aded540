import { MAX_FILTER_CONDITIONS, MAX_FILTER_VALUES, MAX_METADATA_DEPTH } from './defaults.ts';
import { checkUserText } from './entry.ts';
import { excerpt, invalidInput, type PalimpsestError } from './errors.ts';
import { compareCodePoints } from './text-order.ts';
import type { JsonObject, JsonValue, MemoryEntry, MemoryFilter, MetadataFilter } from './types.ts';

type Comparison = Extract<MetadataFilter, { kind: 'compare' }>;

/** Where a filter key points. */
export interface FilterKey {
  /** Nested keys, outermost first. */
  readonly path: string[];
  /** The key read as one top-level key with dots in its name, where it can be read so. */
  readonly flatKey: string | null;
}

/** Longest filter key in code points: far beyond any real one, short enough to walk. */
const MAX_FILTER_KEY_LENGTH = 1024;

/**
 * Reads a filter key. An unescaped dot steps down one level; a backslash takes the next character as it is.
 * `a.b` finds `{"a": {"b": …}}`, and `{"a.b": …}` first where an entry has it; `a\.b` finds only the latter.
 * Any other character may stand in a key.
 *
 * @throws PalimpsestError `invalid_input` for an empty key, a backslash at the end, or a path deeper than
 *   metadata can be.
 */
export function parseFilterKey(key: string): FilterKey {
  const field = 'filter.metadata';
  const text = checkUserText(key, field, MAX_FILTER_KEY_LENGTH);
  const path: string[] = [];
  let step = '';
  let isEscaped = false;
  for (const character of text) {
    if (isEscaped) {
      step += character;
      isEscaped = false;
    } else if (character === '\\') {
      isEscaped = true;
    } else if (character === '.') {
      path.push(step);
      step = '';
    } else {
      step += character;
    }
  }
  path.push(step);
  if (isEscaped) throw keyRefused(key, 'it ends with a backslash; write \\\\ for a backslash itself');
  if (text === '') throw keyRefused(key, 'it is empty');
  if (path.length > MAX_METADATA_DEPTH) {
    throw keyRefused(
      key,
      `it steps down ${path.length} levels, and metadata has at most ${MAX_METADATA_DEPTH}`,
    );
  }
  return { path, flatKey: path.length > 1 ? path.join('.') : null };
}

function keyRefused(key: string, fault: string): PalimpsestError {
  return invalidInput(`The metadata filter key ${excerpt(key)} is wrong: ${fault}.`, {
    path: 'filter.metadata',
    got: excerpt(key),
    allowed: 'keys joined by ".", with "\\." for a dot that belongs to a key',
  });
}

/** What each operator compares with. */
const OPERAND_RULES: Record<
  Comparison['operator'],
  { allowed: string; accepts: (value: JsonValue) => boolean }
> = {
  eq: { allowed: 'any JSON value', accepts: () => true },
  ne: { allowed: 'any JSON value', accepts: () => true },
  gt: { allowed: 'a number or a text', accepts: isOrdered },
  gte: { allowed: 'a number or a text', accepts: isOrdered },
  lt: { allowed: 'a number or a text', accepts: isOrdered },
  lte: { allowed: 'a number or a text', accepts: isOrdered },
  in: { allowed: `a list of at most ${MAX_FILTER_VALUES} values`, accepts: isShortList },
  nin: { allowed: `a list of at most ${MAX_FILTER_VALUES} values`, accepts: isShortList },
  exists: { allowed: 'true or false', accepts: (value) => typeof value === 'boolean' },
  contains: { allowed: 'any JSON value', accepts: () => true },
};

function isOrdered(value: JsonValue): boolean {
  return typeof value === 'number' || typeof value === 'string';
}

function isShortList(value: JsonValue): boolean {
  return Array.isArray(value) && value.length <= MAX_FILTER_VALUES;
}

/**
 * Checks a metadata filter whole: every operator with an operand it can compare with (`in` wants a list, and
 * never reads a text character by character), at most 64 conditions, nested at most 32 deep, no empty group.
 *
 * @returns The filter, unchanged.
 * @throws PalimpsestError `invalid_input`
 */
export function checkMetadataFilter(filter: MetadataFilter, field = 'filter.metadata'): MetadataFilter {
  let conditions = 0;
  const visit = (node: MetadataFilter, depth: number): void => {
    if (depth > MAX_METADATA_DEPTH)
      throw tooLarge(field, `it is nested deeper than ${MAX_METADATA_DEPTH} levels`);
    if (node.kind === 'compare') {
      conditions += 1;
      if (conditions > MAX_FILTER_CONDITIONS) {
        throw tooLarge(field, `it has more than ${MAX_FILTER_CONDITIONS} conditions`);
      }
      checkOperand(node, field);
    } else if (node.kind === 'not') {
      visit(node.filter, depth + 1);
    } else {
      if (node.filters.length === 0) {
        throw invalidInput(`${field}: an empty ${node.kind} says nothing. Leave it out.`, { path: field });
      }
      for (const part of node.filters) visit(part, depth + 1);
    }
  };
  visit(filter, 1);
  return filter;
}

function tooLarge(field: string, fault: string): PalimpsestError {
  return invalidInput(`${field}: ${fault}. Split the question, or store what it asks as a tag.`, {
    path: field,
  });
}

function checkOperand({ path, operator, value }: Comparison, field: string): void {
  if (!Object.hasOwn(OPERAND_RULES, operator)) {
    throw invalidInput(`${field}: ${excerpt(operator)} is not an operator.`, {
      path: `${field}.${path.join('.')}`,
      got: excerpt(operator),
      allowed: Object.keys(OPERAND_RULES),
    });
  }
  const rule = OPERAND_RULES[operator];
  if (rule.accepts(value)) return;
  throw invalidInput(
    `${field}.${path.join('.')}: ${operator} takes ${rule.allowed}, not ${excerpt(value)}.`,
    {
      path: `${field}.${path.join('.')}.${operator}`,
      got: excerpt(value),
      allowed: rule.allowed,
    },
  );
}

/** What a filter reads of an entry. */
export type FilteredEntry = Pick<MemoryEntry, 'type' | 'tags' | 'status' | 'observedAt' | 'metadata'>;

/**
 * Whether an entry matches a filter: the reference that the SQL is tested against.
 *
 * Every given condition must hold, and an empty list of types, statuses or `tagsAny` names nothing, so
 * nothing matches. Metadata is compared without coercion: a number with a number, a text with a text by code
 * point, anything else never greater or less; `eq` is JSON equality, the order of keys aside. Steps of a path
 * are keys of objects, never positions in a list.
 */
export function matchesFilter(filter: MemoryFilter, entry: FilteredEntry): boolean {
  const { types, statuses, tagsAny, tagsAll, metadata } = filter;
  return (
    (types === undefined || types.includes(entry.type)) &&
    (statuses === undefined || statuses.includes(entry.status)) &&
    (tagsAny === undefined || tagsAny.some((tag) => entry.tags.includes(tag))) &&
    (tagsAll === undefined || tagsAll.every((tag) => entry.tags.includes(tag))) &&
    isObservedWithin(entry.observedAt, filter.observedFrom, filter.observedUntil) &&
    (metadata === undefined || matchesMetadata(metadata, entry.metadata))
  );
}

function isObservedWithin(observedAt: Date | null, from: Date | undefined, until: Date | undefined): boolean {
  if (from === undefined && until === undefined) return true;
  if (observedAt === null) return false;
  return (from === undefined || observedAt >= from) && (until === undefined || observedAt < until);
}

function matchesMetadata(filter: MetadataFilter, metadata: JsonObject): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((part) => matchesMetadata(part, metadata));
    case 'or':
      return filter.filters.some((part) => matchesMetadata(part, metadata));
    case 'not':
      return !matchesMetadata(filter.filter, metadata);
    case 'compare':
      return matchesComparison(filter, metadata);
  }
}

/** The value a comparison reads, or undefined where the entry lacks the key. `null` is a value. */
function readValue({ path, flatKey }: Comparison, metadata: JsonObject): JsonValue | undefined {
  if (flatKey !== null && Object.hasOwn(metadata, flatKey)) return metadata[flatKey];
  let value: JsonValue | undefined = metadata;
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function matchesComparison(comparison: Comparison, metadata: JsonObject): boolean {
  const { operator, value: operand } = comparison;
  const value = readValue(comparison, metadata);
  const isAmong = () =>
    value !== undefined && Array.isArray(operand) && operand.some((one) => isJsonEqual(value, one));
  switch (operator) {
    case 'eq':
      return value !== undefined && isJsonEqual(value, operand);
    case 'ne':
      return value === undefined || !isJsonEqual(value, operand);
    case 'in':
      return isAmong();
    case 'nin':
      return !isAmong();
    case 'exists':
      return (value !== undefined) === operand;
    case 'contains':
      return holds(value, operand);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return isOrderedAs(operator, compareOrdered(value, operand));
  }
}

function holds(value: JsonValue | undefined, part: JsonValue): boolean {
  if (Array.isArray(value)) return value.some((item) => isJsonEqual(item, part));
  return typeof value === 'string' && typeof part === 'string' && value.includes(part);
}

/** Negative, 0 or positive; NaN where the two have no order. */
function compareOrdered(a: JsonValue | undefined, b: JsonValue): number {
  // A difference of two finite numbers may overflow, but keeps its sign.
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  return Number.NaN;
}

function isOrderedAs(operator: 'gt' | 'gte' | 'lt' | 'lte', order: number): boolean {
  switch (operator) {
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Equality of JSON values: numbers by value, lists in order, objects by their keys in any order. */
function isJsonEqual(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isJsonEqual(item, b[index] ?? null));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isJsonEqual(a[key] ?? null, b[key] ?? null))
  );
}
