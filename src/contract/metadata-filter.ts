import { checkMetadata } from '../core/entry.ts';
import { excerpt, invalidInput, type PalimpsestError } from '../core/errors.ts';
import { checkMetadataFilter, parseFilterKey } from '../core/filter.ts';
import { nearestName } from '../core/nearest-name.ts';
import type { JsonObject, JsonValue, MetadataFilter, MetadataOperator } from '../core/types.ts';
import { shortName } from './field-path.ts';

const OPERATORS = [
  'eq',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'in',
  'nin',
  'exists',
  'contains',
] as const satisfies readonly MetadataOperator[];

/** A bare `"*"` asks whether the key exists, whatever its value. `{"eq": "*"}` asks for the text itself. */
const ANY_VALUE = '*';

/**
 * Reads the metadata filter of a request.
 *
 * `{"project": "atlas", "year": {"gte": 2024, "lt": 2026}}` — several keys, and several operators of a key, must
 * all hold. `and` and `or` take lists of such objects, `not` takes one. A key with one of these names is written
 * `\and`; a dot steps down one level and `\.` is a dot of the key. A bare value is `eq`, a bare `"*"` is
 * `{"exists": true}`. Numbers are compared with numbers and texts with texts, never converted. An entry that
 * lacks the key matches `ne`, `nin` and `{"exists": false}`, and nothing else.
 *
 * @returns The filter, or undefined for `{}`, which asks nothing.
 * @throws PalimpsestError `invalid_input`
 */
export function parseMetadataFilter(value: unknown, field: string): MetadataFilter | undefined {
  // The same bounds as metadata: JSON only, no NUL, at most 64 KiB, and never deeper than a stack can go.
  const conditions = checkMetadata(value, field);
  if (Object.keys(conditions).length === 0) return undefined;
  return checkMetadataFilter(readObject(conditions, field), field);
}

function readObject(conditions: JsonObject, field: string): MetadataFilter {
  const filters = Object.entries(conditions).flatMap(([key, value]) => readEntry(key, value, field));
  if (filters.length === 0) {
    throw refused(field, conditions, 'an empty object asks nothing', 'an object with at least one key');
  }
  return allOf(filters);
}

function readEntry(key: string, value: JsonValue, field: string): MetadataFilter[] {
  const place = `${field}.${shortName(key)}`;
  switch (key) {
    case 'and':
    case 'or':
      return [{ kind: key, filters: readList(value, place) }];
    case 'not':
      return [{ kind: 'not', filter: readObject(asObject(value, place), place) }];
    default:
      return readCondition(key, value, place);
  }
}

function readList(value: JsonValue, place: string): MetadataFilter[] {
  if (!Array.isArray(value)) throw refused(place, value, 'it is not a list', 'a list of objects');
  return value.map((item, index) => readObject(asObject(item, `${place}[${index}]`), `${place}[${index}]`));
}

function asObject(value: JsonValue, place: string): JsonObject {
  if (isObject(value)) return value;
  throw refused(
    place,
    value,
    'it is not an object',
    'an object of conditions; \\ before a key with this name',
  );
}

function readCondition(key: string, value: JsonValue, place: string): MetadataFilter[] {
  const { path, flatKey } = parseFilterKey(key);
  const compare = (operator: MetadataOperator, operand: JsonValue): MetadataFilter => ({
    kind: 'compare',
    path,
    flatKey,
    operator,
    value: operand,
  });
  if (value === ANY_VALUE) return [compare('exists', true)];
  if (Array.isArray(value)) {
    throw refused(place, value, 'a bare list could mean two things', '{"in": […]} or {"eq": […]}');
  }
  if (!isObject(value)) return [compare('eq', value)];
  const operators = Object.entries(value);
  if (operators.length === 0) throw refused(place, value, 'it has no operator', OPERATORS.join(', '));
  return operators.map(([operator, operand]) => compare(readOperator(operator, place), operand));
}

function readOperator(name: string, place: string): MetadataOperator {
  const operator = OPERATORS.find((known) => known === name);
  if (operator !== undefined) return operator;
  const nearest = nearestName(name.replace(/^\$/, ''), OPERATORS);
  const hint = nearest === null ? undefined : `Did you mean ${nearest}?`;
  throw invalidInput(
    `${place}: ${excerpt(name)} is not an operator. ${hint ?? `Allowed: ${OPERATORS.join(', ')}; {"eq": {…}} compares with an object.`}`,
    { path: `${place}.${shortName(name)}`, got: shortName(name), allowed: [...OPERATORS], hint },
  );
}

function allOf(filters: readonly MetadataFilter[]): MetadataFilter {
  const [only] = filters;
  return filters.length === 1 && only !== undefined ? only : { kind: 'and', filters };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(place: string, value: JsonValue, fault: string, allowed: string): PalimpsestError {
  return invalidInput(`${place}: ${fault}. Got ${excerpt(value)}; allowed: ${allowed}.`, {
    path: place,
    got: excerpt(value),
    allowed,
  });
}
