import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { MAX_FILTER_CONDITIONS, MAX_FILTER_VALUES, MAX_METADATA_DEPTH } from './defaults.ts';
import { checkMetadataFilter, type FilteredEntry, matchesFilter, parseFilterKey } from './filter.ts';
import type { JsonObject, JsonValue, MemoryFilter, MetadataFilter, MetadataOperator } from './types.ts';

function entry(facts: Partial<FilteredEntry>): FilteredEntry {
  return { type: 'note', tags: [], status: 'unconfirmed', observedAt: null, metadata: {}, ...facts };
}

function compare(key: string, operator: MetadataOperator, value: JsonValue): MetadataFilter {
  return { kind: 'compare', ...parseFilterKey(key), operator, value };
}

/** Whether `key operator value` holds for an entry with this metadata. */
function holds(metadata: JsonObject, key: string, operator: MetadataOperator, value: JsonValue): boolean {
  return matchesFilter({ metadata: compare(key, operator, value) }, entry({ metadata }));
}

describe('parseFilterKey', () => {
  test.each([
    { key: 'a', path: ['a'], flatKey: null },
    { key: 'a.b', path: ['a', 'b'], flatKey: 'a.b' },
    { key: 'a.b.c', path: ['a', 'b', 'c'], flatKey: 'a.b.c' },
    { key: 'a\\.b', path: ['a.b'], flatKey: null },
    { key: 'a\\.b.c', path: ['a.b', 'c'], flatKey: 'a.b.c' },
    { key: 'a\\\\b', path: ['a\\b'], flatKey: null },
    { key: 'a\\\\.b', path: ['a\\', 'b'], flatKey: 'a\\.b' },
    { key: '\\a', path: ['a'], flatKey: null },
    { key: 'two words', path: ['two words'], flatKey: null },
    { key: 'x-y', path: ['x-y'], flatKey: null },
    { key: '$gt', path: ['$gt'], flatKey: null },
    { key: '😀.🎉', path: ['😀', '🎉'], flatKey: '😀.🎉' },
    { key: 'a.', path: ['a', ''], flatKey: 'a.' },
    { key: '__proto__', path: ['__proto__'], flatKey: null },
    { key: "a' = 'b' OR '1'='1' --", path: ["a' = 'b' OR '1'='1' --"], flatKey: null },
  ])('$key → $path', ({ key, path, flatKey }) => {
    expect(parseFilterKey(key)).toEqual({ path, flatKey });
  });

  test.each([
    { name: 'an empty key', key: '' },
    { name: 'a backslash at the end', key: 'a\\' },
    { name: 'NUL', key: 'a\u0000' },
    { name: 'a lone surrogate', key: '\ud800' },
    {
      name: 'a path deeper than metadata',
      key: Array(MAX_METADATA_DEPTH + 1)
        .fill('a')
        .join('.'),
    },
    { name: 'a megabyte', key: 'x'.repeat(1e6) },
  ])('refuses $name', ({ key }) => {
    expect(refusal(() => parseFilterKey(key)).details[0]?.path).toBe('filter.metadata');
  });

  test('reaches every key: escaping its dots and backslashes gives it back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', '.', '\\', '😀', ' ') }), {
          minLength: 1,
          maxLength: 4,
        }),
        (path) => {
          fc.pre(path.join('') !== '');
          const key = path.map((step) => step.replace(/[.\\]/g, '\\$&')).join('.');
          expect(parseFilterKey(key).path).toEqual(path);
        },
      ),
    );
  });
});

describe('B3: keys with dots', () => {
  test('a.b finds the nested value, and the key with a dot in its name', () => {
    expect(holds({ a: { b: 1 } }, 'a.b', 'eq', 1)).toBe(true);
    expect(holds({ 'a.b': 1 }, 'a.b', 'eq', 1)).toBe(true);
  });

  test('where an entry has both, the key with the dot is read', () => {
    const both = { 'a.b': 1, a: { b: 2 } };
    expect(holds(both, 'a.b', 'eq', 1)).toBe(true);
    expect(holds(both, 'a.b', 'eq', 2)).toBe(false);
  });

  test('a\\.b finds the key with the dot alone', () => {
    expect(holds({ 'a.b': 1 }, 'a\\.b', 'eq', 1)).toBe(true);
    expect(holds({ a: { b: 1 } }, 'a\\.b', 'eq', 1)).toBe(false);
  });

  test('a step is a key of an object and never a position in a list', () => {
    expect(holds({ a: ['x'] }, 'a.0', 'eq', 'x')).toBe(false);
    expect(holds({ a: { 0: 'x' } }, 'a.0', 'eq', 'x')).toBe(true);
    expect(holds({ a: 'text' }, 'a.length', 'exists', true)).toBe(false);
  });

  test.each(['two words', 'x-y', '$gt', '😀', '', ' ', 'constructor', "a'b"])(
    'the key "%s" is one like any other',
    (key) => {
      expect(holds({ outer: { [key]: 1 } }, `outer.${key}`, 'eq', 1)).toBe(true);
      expect(holds({ outer: {} }, `outer.${key}`, 'exists', true)).toBe(false);
    },
  );

  test('a key of every object, such as toString, is missing until somebody stores it', () => {
    expect(holds({}, 'toString', 'exists', true)).toBe(false);
    expect(holds({ toString: 1 }, 'toString', 'eq', 1)).toBe(true);
    expect(holds(JSON.parse('{"__proto__":{"a":1}}'), '__proto__.a', 'eq', 1)).toBe(true);
  });
});

describe('comparisons', () => {
  test.each([
    // A number with a number.
    { value: 5, operator: 'gt', operand: 4, result: true },
    { value: 5, operator: 'gt', operand: 5, result: false },
    { value: 5, operator: 'gte', operand: 5, result: true },
    { value: -1, operator: 'lt', operand: 0, result: true },
    { value: 10, operator: 'lt', operand: 9, result: false },
    { value: 0, operator: 'lte', operand: 0, result: true },
    { value: 1, operator: 'eq', operand: 1.0, result: true },
    { value: 1e308, operator: 'gt', operand: -1e308, result: true },
    // A text with a text, by code point: "10" is before "9", upper case before lower, 😀 after U+FFFD.
    { value: '10', operator: 'lt', operand: '9', result: true },
    { value: 'Z', operator: 'lt', operand: 'a', result: true },
    { value: '😀', operator: 'gt', operand: '\ufffd', result: true },
    { value: 'ab', operator: 'gt', operand: 'a', result: true },
    { value: '', operator: 'lte', operand: '', result: true },
    // No coercion: another type is never equal, greater or less.
    { value: '5', operator: 'eq', operand: 5, result: false },
    { value: '5', operator: 'gt', operand: 4, result: false },
    { value: '5', operator: 'lte', operand: 6, result: false },
    { value: true, operator: 'eq', operand: 1, result: false },
    { value: true, operator: 'gt', operand: 0, result: false },
    { value: null, operator: 'lte', operand: 0, result: false },
    { value: null, operator: 'eq', operand: 0, result: false },
    { value: [5], operator: 'gt', operand: 4, result: false },
    // JSON equality: lists in order, objects by their keys in any order.
    { value: null, operator: 'eq', operand: null, result: true },
    { value: [1, 2], operator: 'eq', operand: [1, 2], result: true },
    { value: [1, 2], operator: 'eq', operand: [2, 1], result: false },
    { value: [1], operator: 'eq', operand: [1, 2], result: false },
    { value: { a: 1, b: [2] }, operator: 'eq', operand: { b: [2], a: 1 }, result: true },
    { value: { a: 1 }, operator: 'eq', operand: { a: 1, b: 2 }, result: false },
    { value: { a: null }, operator: 'eq', operand: { b: null }, result: false },
    { value: {}, operator: 'eq', operand: [], result: false },
    { value: 'x', operator: 'ne', operand: 'x', result: false },
    { value: 'x', operator: 'ne', operand: 'y', result: true },
    // Lists of values.
    { value: 2, operator: 'in', operand: [1, 2], result: true },
    { value: '2', operator: 'in', operand: [1, 2], result: false },
    { value: { a: 1 }, operator: 'in', operand: [{ a: 1 }], result: true },
    { value: null, operator: 'in', operand: [null], result: true },
    { value: 2, operator: 'in', operand: [], result: false },
    { value: 2, operator: 'nin', operand: [1, 2], result: false },
    { value: 3, operator: 'nin', operand: [1, 2], result: true },
    { value: 3, operator: 'nin', operand: [], result: true },
    // Presence: null is a value.
    { value: null, operator: 'exists', operand: true, result: true },
    { value: null, operator: 'exists', operand: false, result: false },
    { value: 0, operator: 'exists', operand: true, result: true },
    // A list holds an element; a text holds a piece of text.
    { value: ['a', 'b'], operator: 'contains', operand: 'b', result: true },
    { value: ['ab'], operator: 'contains', operand: 'b', result: false },
    { value: [[1], { x: 1 }], operator: 'contains', operand: { x: 1 }, result: true },
    { value: [{ x: 1, y: 2 }], operator: 'contains', operand: { x: 1 }, result: false },
    { value: [1], operator: 'contains', operand: '1', result: false },
    { value: [null], operator: 'contains', operand: null, result: true },
    { value: 'a_b%c', operator: 'contains', operand: '_b%', result: true },
    { value: 'abc', operator: 'contains', operand: '_b%', result: false },
    { value: 'ABC', operator: 'contains', operand: 'b', result: false },
    { value: 'abc', operator: 'contains', operand: '', result: true },
    { value: '123', operator: 'contains', operand: 2, result: false },
    { value: { a: 1 }, operator: 'contains', operand: 'a', result: false },
    { value: 5, operator: 'contains', operand: 5, result: false },
  ] as const satisfies readonly {
    value: JsonValue;
    operator: MetadataOperator;
    operand: JsonValue;
    result: boolean;
  }[])('$value $operator $operand: $result', ({ value, operator, operand, result }) => {
    const plain = (one: unknown) => JSON.parse(JSON.stringify(one)) as JsonValue;
    expect(holds({ f: plain(value) }, 'f', operator, plain(operand))).toBe(result);
  });
});

describe('B6: entries that lack the key', () => {
  const rows = [{ f: 1 }, { f: 2 }, {}];
  const matching = (operator: MetadataOperator, value: JsonValue) =>
    rows.filter((metadata) => holds(metadata, 'f', operator, value));

  test('ne and nin hold for them: they are the exact negation of eq and in', () => {
    expect(matching('eq', 1)).toEqual([{ f: 1 }]);
    expect(matching('ne', 1)).toEqual([{ f: 2 }, {}]);
    expect(matching('in', [1])).toEqual([{ f: 1 }]);
    expect(matching('nin', [1])).toEqual([{ f: 2 }, {}]);
  });

  test('every other comparison is false for them, and exists: false finds them', () => {
    for (const [operator, value] of [
      ['gt', -1],
      ['gte', -1],
      ['lt', 9],
      ['lte', 9],
    ] as const) {
      expect(matching(operator, value)).toEqual([{ f: 1 }, { f: 2 }]);
    }
    expect(matching('contains', 1)).toEqual([]);
    expect(matching('exists', false)).toEqual([{}]);
    expect(matching('exists', true)).toEqual([{ f: 1 }, { f: 2 }]);
  });

  test('a missing key is not null', () => {
    expect(holds({}, 'f', 'eq', null)).toBe(false);
    expect(holds({ f: null }, 'f', 'eq', null)).toBe(true);
    expect(holds({ f: null }, 'f', 'ne', 1)).toBe(true);
  });
});

describe('and, or, not', () => {
  const one = compare('a', 'eq', 1);
  const two = compare('b', 'eq', 2);
  const matches = (metadata: MetadataFilter, facts: JsonObject) =>
    matchesFilter({ metadata }, entry({ metadata: facts }));

  test('combine', () => {
    expect(matches({ kind: 'and', filters: [one, two] }, { a: 1, b: 2 })).toBe(true);
    expect(matches({ kind: 'and', filters: [one, two] }, { a: 1 })).toBe(false);
    expect(matches({ kind: 'or', filters: [one, two] }, { b: 2 })).toBe(true);
    expect(matches({ kind: 'or', filters: [one, two] }, {})).toBe(false);
    expect(matches({ kind: 'not', filter: one }, {})).toBe(true);
    expect(matches({ kind: 'not', filter: one }, { a: 1 })).toBe(false);
  });
});

describe('the other conditions', () => {
  const may = (day: number) => new Date(Date.UTC(2026, 4, day));
  const facts = entry({ type: 'decision', tags: ['db', 'backend'], status: 'confirmed', observedAt: may(2) });

  test.each([
    { filter: {}, result: true },
    { filter: { types: ['note', 'decision'] }, result: true },
    { filter: { types: ['note'] }, result: false },
    { filter: { types: ['Decision'] }, result: false },
    { filter: { types: [] }, result: false },
    { filter: { statuses: ['confirmed'] }, result: true },
    { filter: { statuses: ['unconfirmed', 'superseded'] }, result: false },
    { filter: { tagsAny: ['db', 'x'] }, result: true },
    { filter: { tagsAny: ['x'] }, result: false },
    { filter: { tagsAny: [] }, result: false },
    { filter: { tagsAll: ['db', 'backend'] }, result: true },
    { filter: { tagsAll: ['db', 'x'] }, result: false },
    { filter: { tagsAll: [] }, result: true },
    { filter: { observedFrom: may(2) }, result: true },
    { filter: { observedFrom: may(3) }, result: false },
    { filter: { observedUntil: may(2) }, result: false },
    { filter: { observedUntil: may(3) }, result: true },
    { filter: { observedFrom: may(1), observedUntil: may(3) }, result: true },
    { filter: { types: ['decision'], tagsAny: ['x'] }, result: false },
  ] as { filter: MemoryFilter; result: boolean }[])('%o', ({ filter, result }) => {
    expect(matchesFilter(filter, facts)).toBe(result);
  });

  test('an entry without an observed time matches no bounded range', () => {
    expect(matchesFilter({ observedFrom: new Date(0) }, entry({}))).toBe(false);
    expect(matchesFilter({ observedUntil: may(3) }, entry({}))).toBe(false);
    expect(matchesFilter({}, entry({}))).toBe(true);
  });
});

describe('laws that hold for any metadata', () => {
  const anyJson = fc.oneof(
    fc.constantFrom<JsonValue>(
      0,
      1,
      '0',
      '1',
      '',
      true,
      false,
      null,
      [],
      [1],
      ['1'],
      {},
      { a: 1 },
      { b: '1' },
    ),
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>,
  );
  const anyKey = fc.constantFrom('a', 'b', 'a.b', 'a\\.b', 'a.a');
  const anyMetadata = fc.dictionary(fc.constantFrom('a', 'b', 'a.b'), anyJson, {
    maxKeys: 3,
  }) as fc.Arbitrary<JsonObject>;

  test('ne is not eq, nin is not in, exists: false is not exists: true', () => {
    fc.assert(
      fc.property(
        anyMetadata,
        anyKey,
        anyJson,
        fc.array(anyJson, { maxLength: 3 }),
        (metadata, key, value, list) => {
          expect(holds(metadata, key, 'ne', value)).toBe(!holds(metadata, key, 'eq', value));
          expect(holds(metadata, key, 'nin', list)).toBe(!holds(metadata, key, 'in', list));
          expect(holds(metadata, key, 'exists', false)).toBe(!holds(metadata, key, 'exists', true));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('in is eq with any of the list, and eq implies exists', () => {
    fc.assert(
      fc.property(anyMetadata, anyKey, fc.array(anyJson, { maxLength: 3 }), (metadata, key, list) => {
        const isAny = list.some((value) => holds(metadata, key, 'eq', value));
        expect(holds(metadata, key, 'in', list)).toBe(isAny);
        if (isAny) expect(holds(metadata, key, 'exists', true)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test('of gt, eq and lt at most one holds; exactly one between two numbers or two texts', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (value, operand) => {
        const operators = ['gt', 'eq', 'lt'] as const;
        const count = operators.filter((operator) => holds({ a: value }, 'a', operator, operand)).length;
        const isOrdered =
          typeof value === typeof operand && (typeof value === 'number' || typeof value === 'string');
        expect(count).toBeLessThanOrEqual(1);
        if (isOrdered) expect(count).toBe(1);
        for (const [either, strict] of [
          ['gte', 'gt'],
          ['lte', 'lt'],
        ] as const) {
          const expected =
            isOrdered &&
            (holds({ a: value }, 'a', strict, operand) || holds({ a: value }, 'a', 'eq', operand));
          expect(holds({ a: value }, 'a', either, operand)).toBe(expected);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('a value that went through JSON with its keys turned round equals itself', () => {
    const turned = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(turned);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, part]) => [key, turned(part)]),
      );
    };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>, (value) => {
        expect(holds({ a: value }, 'a', 'eq', turned(value))).toBe(true);
        expect(holds({ a: [value] }, 'a', 'contains', turned(value))).toBe(true);
      }),
    );
  });
});

describe('checkMetadataFilter', () => {
  test('returns a filter that is right, unchanged', () => {
    const filter: MetadataFilter = {
      kind: 'and',
      filters: [compare('a', 'in', [1]), { kind: 'not', filter: compare('b', 'exists', true) }],
    };
    expect(checkMetadataFilter(filter)).toBe(filter);
  });

  test('B5: in takes a list; a text is not read character by character', () => {
    const error = refusal(() => checkMetadataFilter(compare('user', 'in', 'alice')));
    expect(error.message).toContain('in takes a list');
    expect(error.details[0]?.path).toBe('filter.metadata.user.in');
    // Even where nobody checks: the text is no list, so nothing is in it.
    expect(holds({ user: 'a' }, 'user', 'in', 'alice')).toBe(false);
    expect(holds({ user: 'a' }, 'user', 'nin', 'alice')).toBe(true);
  });

  test.each([
    { operator: 'nin', value: 'alice' },
    { operator: 'in', value: { 0: 'a' } },
    { operator: 'in', value: Array(MAX_FILTER_VALUES + 1).fill(1) },
    { operator: 'gt', value: true },
    { operator: 'gte', value: null },
    { operator: 'lt', value: [1] },
    { operator: 'lte', value: {} },
    { operator: 'exists', value: 'true' },
    { operator: 'exists', value: 1 },
  ] as { operator: MetadataOperator; value: JsonValue }[])(
    'refuses $operator with a value it cannot compare with',
    ({ operator, value }) => {
      expect(refusal(() => checkMetadataFilter(compare('a', operator, value))).code).toBe('invalid_input');
    },
  );

  test.each(['$gtr', 'like', 'toString', ''])('refuses the unknown operator "%s"', (operator) => {
    const error = refusal(() => checkMetadataFilter(compare('age', operator as MetadataOperator, 5)));
    expect(error.details[0]).toMatchObject({
      path: 'filter.metadata.age',
      allowed: expect.arrayContaining(['gt', 'in']),
    });
  });

  test('refuses an empty group, in which nothing is asked', () => {
    for (const kind of ['and', 'or'] as const) {
      expect(refusal(() => checkMetadataFilter({ kind, filters: [] })).message).toContain('empty');
    }
  });

  test('counts conditions over all levels', () => {
    const many = (count: number): MetadataFilter => ({
      kind: 'or',
      filters: [
        { kind: 'and', filters: Array(count - 1).fill(compare('a', 'eq', 1)) },
        compare('b', 'eq', 1),
      ],
    });
    expect(() => checkMetadataFilter(many(MAX_FILTER_CONDITIONS))).not.toThrow();
    expect(refusal(() => checkMetadataFilter(many(MAX_FILTER_CONDITIONS + 1))).message).toContain(
      '64 conditions',
    );
  });

  test('refuses a filter nested deeper than 32 levels', () => {
    const nested = (depth: number): MetadataFilter =>
      depth === 1 ? compare('a', 'eq', 1) : { kind: 'not', filter: nested(depth - 1) };
    expect(() => checkMetadataFilter(nested(MAX_METADATA_DEPTH))).not.toThrow();
    expect(refusal(() => checkMetadataFilter(nested(MAX_METADATA_DEPTH + 1))).message).toContain('nested');
  });
});
