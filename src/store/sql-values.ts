import { PalimpsestError } from '../core/errors.ts';

/**
 * Values on their way into a statement and out of a result. Both drivers use these and nothing of their own,
 * so a query gives the same values on each: left alone, `pg` and PGlite differ on dates, int8, numbers in
 * arrays, arrays meant as JSON and typed arrays.
 */

/** A bound value as it goes over the wire: text, bytes or NULL. */
export type WireValue = string | Uint8Array | null;

/**
 * Bound values as the server reads them. Arrays become Postgres arrays and plain objects JSON, as the values
 * look, not as the parameter is declared: bind an array that is meant as JSON as `JSON.stringify(array)`.
 * `undefined` is refused: it is nearly always a misspelt field, and would silently store NULL.
 */
export function toWireValues(values: readonly unknown[]): WireValue[] {
  return values.map((value, index) => {
    if (value !== undefined) return toWireValue(value);
    throw new PalimpsestError('internal', `The bound value $${index + 1} is undefined.`, {
      details: [{ path: `$${index + 1}`, hint: 'Bind null to store NULL.' }],
    });
  });
}

function toWireValue(value: unknown): WireValue {
  if (value === null) return null;
  if (value instanceof Uint8Array) return value;
  return toText(value);
}

function toText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      if (value instanceof Date) return value.toISOString();
      if (Array.isArray(value)) return arrayText(value);
      if (value instanceof Uint8Array) return byteaText(value);
      if (isPlainObject(value)) return JSON.stringify(value);
  }
  throw new PalimpsestError(
    'internal',
    `A value of type ${describeType(value)} can't be bound to a statement.`,
    {
      details: [
        { allowed: 'null, text, numbers, booleans, dates, bytes, plain objects, and arrays of these' },
      ],
    },
  );
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function describeType(value: unknown): string {
  return typeof value === 'object' ? (value?.constructor.name ?? 'object') : typeof value;
}

/** Elements are always quoted, so that no text can be taken for NULL, a number of dimensions or a delimiter. */
function arrayText(values: readonly unknown[]): string {
  const elements = values.map((value) => {
    if (value === null || value === undefined) return 'NULL';
    if (Array.isArray(value)) return arrayText(value);
    return `"${toText(value).replace(/["\\]/g, '\\$&')}"`;
  });
  return `{${elements.join(',')}}`;
}

/** Bytes in Postgres' hexadecimal text form. */
export function byteaText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
}

type Parse = (text: string) => unknown;

/** Object ids of built-in types: fixed for ever (pg_type.dat). */
const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  jsonb: 3802,
} as const;

const PARSERS: Readonly<Record<keyof typeof OID, Parse>> = {
  bool: (text) => text === 't',
  bytea: parseBytea,
  int8: parseInt8,
  int2: Number,
  int4: Number,
  oid: Number,
  json: (text) => JSON.parse(text),
  float4: Number,
  float8: Number,
  date: parseTimestamp,
  timestamp: parseTimestamp,
  timestamptz: parseTimestamp,
  jsonb: (text) => JSON.parse(text),
};

/** Object ids of arrays, by their elements' type; text-like elements stay text. */
const ARRAYS: readonly (readonly [arrayOid: number, parseElement: Parse])[] = [
  [1000, PARSERS.bool],
  [1001, PARSERS.bytea],
  [1016, PARSERS.int8],
  [1005, PARSERS.int2],
  [1007, PARSERS.int4],
  [1028, PARSERS.oid],
  [199, PARSERS.json],
  [1021, PARSERS.float4],
  [1022, PARSERS.float8],
  [1182, PARSERS.date],
  [1115, PARSERS.timestamp],
  [1185, PARSERS.timestamptz],
  [3807, PARSERS.jsonb],
  // text, varchar, bpchar, name, uuid, numeric
  ...[1009, 1015, 1014, 1003, 2951, 1231].map((oid) => [oid, (text: string) => text] as const),
];

/**
 * How a column's text becomes a value, by the object id of its type. A type that isn't here stays text: so do
 * `numeric` (a number would lose digits), `uuid`, `vector` and `interval`.
 */
export const RESULT_PARSERS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  ...Object.entries(OID).map(([type, oid]) => [oid, PARSERS[type as keyof typeof OID]] as const),
  ...ARRAYS.map(([oid, parseElement]) => [oid, (text: string) => parseArray(text, parseElement)] as const),
]);

/** A number where one holds the value exactly, else a bigint. */
function parseInt8(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/** Always bytes of their own: a small `Buffer` would share its memory, at an offset no typed array can start at. */
function parseBytea(text: string): Uint8Array {
  const bytes = new Uint8Array((text.length - 2) / 2);
  Buffer.from(bytes.buffer).write(text.slice(2), 'hex');
  return bytes;
}

const TIMESTAMP =
  /^(?<year>\d{4,})-(?<month>\d\d)-(?<day>\d\d)(?: (?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?)?(?<offset>[+-][\d:]+)?(?<bc> BC)?$/;

/** Milliseconds of the latest and earliest times a Date can hold; `infinity` becomes these. */
const LATEST_TIME = 8.64e15;

/**
 * A time in Postgres' ISO style, without an offset taken as UTC. Digits below the millisecond are cut. V8's own
 * reading of this form gives Invalid Date for years before Christ and for `infinity`.
 */
function parseTimestamp(text: string): Date {
  if (text === 'infinity') return new Date(LATEST_TIME);
  if (text === '-infinity') return new Date(-LATEST_TIME);
  const parts = TIMESTAMP.exec(text)?.groups;
  if (parts === undefined) {
    throw new PalimpsestError('internal', `The database sent a time in an unknown form: ${text}.`, {
      details: [{ got: text, allowed: 'DateStyle ISO' }],
    });
  }
  const { year, month, day, hour = 0, minute = 0, second = 0, fraction = '', offset, bc } = parts;
  const time = new Date(0);
  // The year before 1 is 1 BC, which astronomers and Date call 0.
  time.setUTCFullYear(bc === undefined ? Number(year) : 1 - Number(year), Number(month) - 1, Number(day));
  time.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.slice(0, 3).padEnd(3, '0')));
  return new Date(time.getTime() - offsetMilliseconds(offset));
}

/** `+02`, `-03:30` or `+00:53:28` (local mean time) in milliseconds. */
function offsetMilliseconds(offset: string | undefined): number {
  if (offset === undefined) return 0;
  const [hours = 0, minutes = 0, seconds = 0] = offset.slice(1).split(':').map(Number);
  const magnitude = ((hours * 60 + minutes) * 60 + seconds) * 1000;
  return offset.startsWith('-') ? -magnitude : magnitude;
}

/** A token of an array's text: a brace, a comma, a quoted element or a bare one. */
const ARRAY_TOKEN = /[{},]|"(?:[^"\\]|\\.)*"|[^{},"]+/gsy;

/** An array in Postgres' text form, nested to any depth. Bounds other than the default (`[0:1]=`) are dropped. */
function parseArray(text: string, parseElement: Parse): unknown[] {
  const root: unknown[] = [];
  const open = [root];
  const body = text.slice(text.indexOf('{'));
  for (const [token] of body.matchAll(ARRAY_TOKEN)) {
    if (token === ',') continue;
    if (token === '}') {
      open.pop();
      continue;
    }
    const array = open.at(-1) ?? root;
    if (token === '{') {
      const nested: unknown[] = [];
      array.push(nested);
      open.push(nested);
    } else if (token === 'NULL') array.push(null);
    else array.push(parseElement(token.startsWith('"') ? unquoted(token) : token));
  }
  return root[0] as unknown[];
}

function unquoted(token: string): string {
  return token.slice(1, -1).replace(/\\(.)/gs, '$1');
}
