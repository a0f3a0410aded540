import { expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { parseMetadataFilter } from './metadata-filter.ts';

const parse = (value: unknown) => parseMetadataFilter(value, 'filter.metadata');
const is = (key: string, operator: string, value: unknown) => ({
  kind: 'compare',
  path: [key],
  flatKey: null,
  operator,
  value,
});

test('a bare value is eq, null and false included; a bare * asks whether the key exists', () => {
  expect(parse({ project: 'atlas' })).toEqual(is('project', 'eq', 'atlas'));
  expect(parse({ project: null })).toEqual(is('project', 'eq', null));
  expect(parse({ project: false })).toEqual(is('project', 'eq', false));
  expect(parse({ project: '*' })).toEqual(is('project', 'exists', true));
  expect(parse({ project: { eq: '*' } })).toEqual(is('project', 'eq', '*'));
});

test('several keys, and several operators of a key, must all hold', () => {
  expect(parse({ project: 'atlas', year: { gte: 2024, lt: 2026 } })).toEqual({
    kind: 'and',
    filters: [is('project', 'eq', 'atlas'), is('year', 'gte', 2024), is('year', 'lt', 2026)],
  });
});

test('and, or and not nest; a key with such a name is escaped', () => {
  expect(parse({ or: [{ a: 1 }, { not: { b: 2, '\\or': 3 } }] })).toEqual({
    kind: 'or',
    filters: [
      is('a', 'eq', 1),
      { kind: 'not', filter: { kind: 'and', filters: [is('b', 'eq', 2), is('or', 'eq', 3)] } },
    ],
  });
});

test('a dot steps down, and the flat key is read first; any other character may stand in a key', () => {
  expect(parse({ 'a.b': 1 })).toMatchObject({ path: ['a', 'b'], flatKey: 'a.b' });
  expect(parse({ 'a\\.b': 1 })).toMatchObject({ path: ['a.b'], flatKey: null });
  for (const key of ['with space', 'a-b', '$gt', '😀', "author' = 'alice' OR '1'='1' --", '__proto__']) {
    expect(parse(JSON.parse(JSON.stringify({ key: 1 }).replace('"key"', JSON.stringify(key))))).toMatchObject(
      {
        path: [key],
      },
    );
  }
});

test('no condition at all is no filter', () => {
  expect(parse({})).toBeUndefined();
});

test.each<[string, unknown, string]>([
  ['an unknown operator', { age: { gtr: 5 } }, 'Did you mean gt?'],
  ['an operator with a dollar sign', { age: { $gte: 5 } }, 'Did you mean gte?'],
  ['a text for in', { user: { in: 'alice' } }, 'in takes a list'],
  ['a text for nin', { user: { nin: 'alice' } }, 'nin takes a list'],
  ['a bare list', { user: ['alice'] }, '{"in": […]}'],
  ['an operator object without operators', { user: {} }, 'it has no operator'],
  ['a number for exists', { user: { exists: 1 } }, 'exists takes true or false'],
  ['a boolean for gt', { age: { gt: true } }, 'gt takes a number or a text'],
  ['an object for or', { or: { a: 1 } }, 'it is not a list'],
  ['an empty or', { or: [] }, 'empty or'],
  ['an empty object in or', { or: [{}] }, 'an empty object asks nothing'],
  ['an empty not', { not: {} }, 'an empty object asks nothing'],
  ['a value for not', { not: 5 }, 'it is not an object'],
  ['an empty key', { '': 1 }, 'it is empty'],
  ['a NUL in a key', { 'a\u0000': 1 }, 'NUL'],
  ['a NUL in a value', { a: 'b\u0000' }, 'NUL'],
  ['a lone surrogate', { a: '\ud800' }, 'surrogate'],
  ['NaN', { a: { gt: Number.NaN } }, 'JSON value'],
  ['a list', [{ a: 1 }], 'it is not an object'],
  ['a text', 'a = 1', 'it is not an object'],
  ['65 conditions', Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, i])), '64 conditions'],
])('%s is refused', (_name, value, reason) => {
  const error = refusal(() => parse(value));
  expect(error.code).toBe('invalid_input');
  expect(error.message).toContain(reason);
});

test('nesting without end is refused, not followed', () => {
  let filter: object = { a: 1 };
  for (let depth = 0; depth < 10_000; depth += 1) filter = { not: filter };
  expect(refusal(() => parse(filter)).message).toContain('nested deeper');
});
