import { excerpt, invalidInput, type PalimpsestError } from '../../core/errors.ts';
import type { JsonObject, JsonValue } from '../../core/types.ts';
import { jsonItemValue } from './item-value.ts';
import { ITEM_FIELD } from './stored-item.ts';

/** LangGraph's operators and ours. */
const OPERATORS: ReadonlyMap<string, string> = new Map([
  ['$eq', 'eq'],
  ['$ne', 'ne'],
  ['$gt', 'gt'],
  ['$gte', 'gte'],
  ['$lt', 'lt'],
  ['$lte', 'lte'],
  ['$in', 'in'],
  ['$nin', 'nin'],
]);

/** Items that a store has written. */
export const IS_ITEM: JsonObject = { [`${ITEM_FIELD}.key`]: { exists: true } };

export function hasOneOfKeys(keys: readonly string[]): JsonObject {
  return { [`${ITEM_FIELD}.key`]: { in: [...keys] } };
}

export function isIndexed(indexed: boolean): JsonObject {
  return { [`${ITEM_FIELD}.indexed`]: { eq: indexed } };
}

/**
 * LangGraph's filter as conditions on metadata. Its keys are the value's own fields, dots and all; a bare value asks
 * for equality, an object of operators for what each says. All must hold.
 *
 * Numbers are compared with numbers and texts with texts: `{ $gt: 4 }` does not find `"5"`.
 *
 * @throws PalimpsestError `invalid_input` for an unknown operator and for what JSON has no form of
 */
export function conditionsOfFilter(filter: Readonly<Record<string, unknown>>): JsonObject[] {
  return Object.entries(filter).map(([key, wanted]) => ({
    [`${ITEM_FIELD}.value.${key.replaceAll(/[\\.]/g, '\\$&')}`]: operatorsOf(wanted, `filter.${key}`),
  }));
}

function operatorsOf(wanted: unknown, field: string): JsonObject {
  if (!isOperatorObject(wanted)) return { eq: operand(wanted, field) };
  const given = Object.entries(wanted);
  if (given.length === 0) throw noCondition(field);
  return Object.fromEntries(
    given.map(([name, value]) => [operator(name, field), operand(value, `${field}.${name}`)]),
  );
}

/** An object with a `$` is meant as operators, so that a misspelt one is not taken for a value. */
function isOperatorObject(wanted: unknown): wanted is Record<string, unknown> {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return false;
  const names = Object.keys(wanted);
  return names.length === 0 ? Object.getPrototypeOf(wanted) === Object.prototype : names.some(isDollar);
}

function isDollar(name: string): boolean {
  return name.startsWith('$');
}

function operator(name: string, field: string): string {
  const ours = OPERATORS.get(name);
  if (ours !== undefined) return ours;
  throw invalidInput(
    `${field}: ${excerpt(name)} is not an operator. Allowed: ${[...OPERATORS.keys()].join(', ')}.`,
    {
      path: field,
      got: excerpt(name),
      allowed: [...OPERATORS.keys()],
    },
  );
}

function operand(value: unknown, field: string): JsonValue {
  if (value === undefined) {
    throw invalidInput(`${field}: undefined is not a value. Leave the key out where it is no condition.`, {
      path: field,
      got: 'undefined',
      allowed: 'a JSON value',
    });
  }
  return jsonItemValue({ value }, field).value ?? null;
}

function noCondition(field: string): PalimpsestError {
  return invalidInput(`${field}: an empty object says nothing. Leave the key out where it is no condition.`, {
    path: field,
    got: 'an empty object',
    allowed: ['a JSON value', ...OPERATORS.keys()],
  });
}
