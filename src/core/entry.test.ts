import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { MAX_CONTENT_BYTES, MAX_METADATA_BYTES, MAX_METADATA_DEPTH, MAX_TAGS } from './defaults.ts';
import {
  checkContent,
  checkImportance,
  checkMetadata,
  checkQueryText,
  checkSource,
  checkTags,
  checkTime,
  checkType,
  checkUserText,
  mergeMetadata,
  mergeTags,
  utf8Length,
} from './entry.ts';
import type { JsonObject, JsonValue } from './types.ts';

const NUL = '\u0000';
const LONE_SURROGATE = '\ud800';

/** What no text of a user's may hold, under names that can stand in a test's title. */
const UNSTORABLE = [
  { name: 'NUL alone', text: NUL },
  { name: 'NUL inside', text: `a${NUL}b` },
  { name: 'a high surrogate alone', text: `a${LONE_SURROGATE}` },
  { name: 'a low surrogate alone', text: '\udc00a' },
  { name: 'a pair the wrong way round', text: '\udc00\ud800' },
];

describe('utf8Length', () => {
  test('is the length TextEncoder gives', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });

  test.each([
    { text: '', bytes: 0 },
    { text: 'a', bytes: 1 },
    { text: 'é', bytes: 2 },
    { text: '€', bytes: 3 },
    { text: '😀', bytes: 4 },
    { text: 'a\u07ff\u0800\uffff', bytes: 1 + 2 + 3 + 3 },
  ])('$text has $bytes bytes', ({ text, bytes }) => {
    expect(utf8Length(text)).toBe(bytes);
  });
});

describe('checkContent', () => {
  test.each(['a', ' a\n', 'line one\nline two\ttab', '😀', 'e\u0301', '<b>&"\'</b>', '--- MEMORY ENTRY ---'])(
    'takes %s exactly as it is',
    (content) => {
      expect(checkContent(content)).toBe(content);
    },
  );

  test.each([
    { name: 'nothing', content: '' },
    { name: 'white space', content: ' \n\t' },
    { name: 'Unicode white space', content: '\u00a0\u2003\u3000' },
    { name: 'invisible characters', content: '\u200b\u200d\ufeff' },
    { name: 'control characters', content: '\u0001\u001b' },
  ])('refuses blank content: $name', ({ content }) => {
    expect(refusal(() => checkContent(content)).message).toContain('blank');
  });

  test.each([undefined, null, 5, true, [], {}, ['text']])('refuses what is not a text: %o', (content) => {
    expect(refusal(() => checkContent(content)).message).toContain('not a text');
  });

  test('counts bytes and not characters: 64 KiB of €, three bytes each, are 21,845 of them', () => {
    const most = Math.floor(MAX_CONTENT_BYTES / 3);
    expect(most).toBe(21_845);
    expect(checkContent('€'.repeat(most))).toHaveLength(most);
    expect(refusal(() => checkContent('€'.repeat(most + 1))).message).toContain('65538 bytes');
    expect(checkContent('x'.repeat(MAX_CONTENT_BYTES))).toHaveLength(MAX_CONTENT_BYTES);
    expect(refusal(() => checkContent('x'.repeat(MAX_CONTENT_BYTES + 1))).code).toBe('invalid_input');
  });
});

describe('E1: what PostgreSQL cannot store is refused in every field, and the field is named', () => {
  test.each(UNSTORABLE)('$name', ({ text }) => {
    const refused: Record<string, () => unknown> = {
      content: () => checkContent(text),
      query: () => checkQueryText(text),
      type: () => checkType(text),
      'tags[1]': () => checkTags(['fine', text]),
      'source.kind': () => checkSource({ kind: text }),
      'source.ref': () => checkSource({ kind: 'chat', ref: text }),
      description: () => checkUserText(text, 'description', 100),
      metadata: () => checkMetadata({ [text]: 1 }),
      'metadata.deep': () => checkMetadata({ deep: { [text]: 1 } }),
      'metadata.list[1].value': () => checkMetadata({ list: [0, { value: text }] }),
    };
    for (const [path, check] of Object.entries(refused)) {
      const error = refusal(check);
      expect(error.code).toBe('invalid_input');
      expect(error.details[0]?.path).toBe(path);
      // Whoever prints the error must not be handed the broken text.
      expect(JSON.stringify(error.message)).not.toContain(text);
      expect(error.message).not.toContain(NUL);
    }
  });

  test('a whole surrogate pair is a character like any other', () => {
    expect(checkMetadata({ '😀': ['🎉'] })).toEqual({ '😀': ['🎉'] });
  });
});

describe('checkQueryText', () => {
  test('takes a question, and the longest content as one', () => {
    expect(checkQueryText('which database did we pick?')).toBe('which database did we pick?');
    expect(checkQueryText('x'.repeat(MAX_CONTENT_BYTES))).toHaveLength(MAX_CONTENT_BYTES);
  });

  test('refuses a blank one and says how to browse', () => {
    expect(refusal(() => checkQueryText(' ')).message).toContain('leave it out to browse');
  });
});

describe('checkType', () => {
  test.each(['note', 'decision', 'my own kind', 'Größe'])('takes %s', (type) => {
    expect(checkType(type)).toBe(type);
  });

  test('counts characters: 64 outside the basic plane are allowed', () => {
    expect(checkType('𝔸'.repeat(64))).toBe('𝔸'.repeat(64));
    expect(refusal(() => checkType('𝔸'.repeat(65))).message).toContain('longer than 64');
  });

  test.each(['', ' ', 3, null])('refuses %o', (type) => {
    expect(refusal(() => checkType(type)).details[0]?.path).toBe('type');
  });
});

describe('checkTags', () => {
  test('keeps order and exact spelling, and counts a tag given twice once', () => {
    expect(checkTags(['b', 'a', 'b', 'B', ' c '])).toEqual(['b', 'a', 'B', ' c ']);
  });

  test('returns a copy', () => {
    const tags = Object.freeze(['a']);
    expect(checkTags(tags)).toEqual(['a']);
    expect(checkTags(tags)).not.toBe(tags);
  });

  test.each([
    { name: 'a text', tags: 'alice' },
    { name: 'a number inside', tags: ['a', 1] },
    { name: 'a blank tag', tags: ['a', ' '] },
    { name: 'a hole', tags: [undefined] },
    { name: 'a tag of 129 characters', tags: ['x'.repeat(129)] },
    { name: 'too many', tags: Array.from({ length: MAX_TAGS + 1 }, (_, index) => `${index}`) },
  ])('refuses $name', ({ tags }) => {
    expect(refusal(() => checkTags(tags)).details[0]?.path).toMatch(/^tags/);
  });
});

describe('checkImportance', () => {
  test.each([0, 1, 0.5, 0.1 + 0.2, 5e-324])(
    'takes %d exactly: 0 is a value, and nothing is rounded',
    (importance) => {
      expect(checkImportance(importance)).toBe(importance);
    },
  );

  test.each([-0.001, 1.001, Number.NaN, Number.POSITIVE_INFINITY, '0.5', null, undefined, true, 5n])(
    'refuses %o',
    (importance) => {
      expect(refusal(() => checkImportance(importance)).details[0]).toMatchObject({ path: 'importance' });
    },
  );
});

describe('checkSource', () => {
  test('takes kind, with or without ref', () => {
    expect(checkSource({ kind: 'chat', ref: 'c1' })).toEqual({ kind: 'chat', ref: 'c1' });
    expect(checkSource({ kind: 'user' })).toEqual({ kind: 'user' });
    expect(checkSource({ kind: 'user', ref: undefined })).toEqual({ kind: 'user' });
  });

  test.each([
    { name: 'no kind', source: {}, path: 'source.kind' },
    { name: 'a blank kind', source: { kind: '' }, path: 'source.kind' },
    { name: 'a number as ref', source: { kind: 'chat', ref: 5 }, path: 'source.ref' },
    { name: 'an unknown field', source: { kind: 'chat', url: 'x' }, path: 'source.url' },
    { name: 'a text', source: 'chat', path: 'source' },
    { name: 'a list', source: ['chat'], path: 'source' },
    { name: 'null', source: null, path: 'source' },
    { name: 'a ref of 513 characters', source: { kind: 'file', ref: 'x'.repeat(513) }, path: 'source.ref' },
  ])('refuses $name', ({ source, path }) => {
    expect(refusal(() => checkSource(source)).details[0]?.path).toBe(path);
  });
});

describe('checkTime', () => {
  test.each(['0001-01-01T00:00:00.000Z', '2026-05-02T12:00:00.123Z', '9999-12-31T23:59:59.999Z'])(
    'takes %s',
    (text) => {
      expect(checkTime(new Date(text), 'observed_at').toISOString()).toBe(text);
    },
  );

  test.each([
    { name: 'a date without a meaning', value: new Date('2026-02-31T99:00:00Z') },
    { name: 'the year 0', value: new Date('0000-12-31T23:59:59.999Z') },
    { name: 'the year 10000', value: new Date('+010000-01-01T00:00:00Z') },
    { name: 'a text', value: '2026-05-02' },
    { name: 'a number', value: 0 },
    { name: 'null', value: null },
  ])('refuses $name', ({ value }) => {
    expect(refusal(() => checkTime(value, 'observed_at')).details[0]?.path).toBe('observed_at');
  });

  test('returns a copy, which a change of the original does not move', () => {
    const given = new Date(0);
    const time = checkTime(given, 'expires_at');
    given.setTime(1);
    expect(time.getTime()).toBe(0);
  });
});

describe('checkMetadata', () => {
  const anyJson = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
  const anyObject = fc.dictionary(fc.string(), anyJson, { maxKeys: 6 }) as fc.Arbitrary<JsonObject>;

  test('takes any JSON object as it is, as a copy', () => {
    fc.assert(
      fc.property(anyObject, (metadata) => {
        const copy = checkMetadata(metadata);
        expect(copy).not.toBe(metadata);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(metadata));
      }),
    );
  });

  test('takes keys of any shape', () => {
    const metadata = { '': 0, 'a.b': 1, ' ': 2, $ne: 3, 'x-y': 4, '😀': 5, userName: 6, user_name: 7 };
    expect(checkMetadata(metadata)).toEqual(metadata);
  });

  test('__proto__ and constructor are ordinary keys: they survive and change nothing', () => {
    const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
    const copy = checkMetadata(JSON.parse(text));
    expect(JSON.stringify(copy)).toBe(text);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
    expect(JSON.stringify(mergeMetadata(copy, { a: 1 }))).toBe(text.replace(/}$/, ',"a":1}'));
  });

  class Point {
    readonly x = 1;
  }

  test.each([
    { name: 'undefined', value: undefined },
    { name: 'NaN', value: Number.NaN },
    { name: 'Infinity', value: Number.NEGATIVE_INFINITY },
    { name: 'a bigint', value: 1n },
    { name: 'a function', value: () => 1 },
    { name: 'a symbol', value: Symbol('s') },
    { name: 'a date', value: new Date(0) },
    { name: 'a map', value: new Map() },
    { name: 'an instance of a class', value: new Point() },
    { name: 'a typed array', value: new Uint8Array(1) },
    { name: 'a list with a hole', value: new Array(1) },
  ])('refuses $name instead of dropping or converting it', ({ value }) => {
    expect(refusal(() => checkMetadata({ ok: 1, a: { b: value } })).details[0]?.path).toMatch(
      /^metadata\.a\.b/,
    );
  });

  test.each([null, [], 'text', 5, undefined, new Date(0)])('refuses what is not an object: %o', (value) => {
    expect(refusal(() => checkMetadata(value)).details[0]?.path).toBe('metadata');
  });

  const nested = (depth: number): JsonObject => (depth === 1 ? {} : { a: nested(depth - 1) });

  test('takes 32 levels and refuses 33', () => {
    expect(checkMetadata(nested(MAX_METADATA_DEPTH))).toEqual(nested(MAX_METADATA_DEPTH));
    expect(refusal(() => checkMetadata(nested(MAX_METADATA_DEPTH + 1))).message).toContain(
      'nested deeper than 32',
    );
    // A value in the deepest object is no level of its own.
    expect(refusal(() => checkMetadata({ a: [[nested(MAX_METADATA_DEPTH - 2)]] })).message).toContain(
      'nested',
    );
  });

  test('takes 64 KiB as JSON and refuses a byte more', () => {
    const overhead = '{"a":""}'.length;
    const most = { a: 'x'.repeat(MAX_METADATA_BYTES - overhead) };
    expect(utf8Length(JSON.stringify(checkMetadata(most)))).toBe(MAX_METADATA_BYTES);
    expect(refusal(() => checkMetadata({ a: `${most.a}x` })).message).toContain('65536 bytes');
  });

  /** The JSON text with every number written out, as PostgreSQL stores it. */
  const storedText = (value: JsonValue): string => {
    if (typeof value === 'number') return writtenOut(value);
    if (Array.isArray(value)) return `[${value.map(storedText).join(',')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    return `{${Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}:${storedText(part)}`)}}`;
  };
  /** Digit by digit: whole numbers of any size, and fractions to the last place a double has. */
  const writtenOut = (value: number) => {
    if (!String(value).includes('e')) return String(value);
    if (Number.isInteger(value)) return String(BigInt(value));
    const [digits = '', places = ''] = Math.abs(value).toString().replace('.', '').split('e-');
    return `${value < 0 ? '-' : ''}0.${'0'.repeat(Number(places) - 1)}${digits}`;
  };

  test.each([
    [1e300, 301],
    [-1.5e21, 23],
    [5e-324, 326],
    [-1.5e-7, 11],
    [1e-7, 9],
  ])('%d counts as the %d characters it is stored as', (number, length) => {
    expect(writtenOut(number)).toHaveLength(length);
    const overhead = '{"a":[],"b":""}'.length + length;
    const most = (more: number) => ({ a: [number], b: 'x'.repeat(MAX_METADATA_BYTES - overhead + more) });
    expect(checkMetadata(most(0))).toEqual(most(0));
    expect(refusal(() => checkMetadata(most(1))).message).toContain('65536 bytes');
  });

  test('counts exactly the bytes of the JSON text', () => {
    fc.assert(
      fc.property(anyObject, (metadata) => {
        const rest = MAX_METADATA_BYTES - utf8Length(storedText({ ...metadata, filler: '' }));
        const filled = (bytes: number) => ({ ...metadata, filler: 'x'.repeat(bytes) });
        expect(utf8Length(storedText(checkMetadata(filled(rest))))).toBe(MAX_METADATA_BYTES);
        expect(refusal(() => checkMetadata(filled(rest + 1))).code).toBe('invalid_input');
      }),
      { numRuns: 30 },
    );
  });

  test('answers at once about a cycle, and about one part held 2³² times', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    let shared: Record<string, unknown> = {};
    for (let level = 1; level < MAX_METADATA_DEPTH; level += 1) shared = { a: shared, b: shared };
    const start = performance.now();
    expect(refusal(() => checkMetadata(cycle)).code).toBe('invalid_input');
    expect(refusal(() => checkMetadata(shared)).code).toBe('invalid_input');
    expect(performance.now() - start).toBeLessThan(500);
  });

  test('leaves its argument alone', () => {
    const metadata = Object.freeze({ a: Object.freeze([Object.freeze({ b: 1 })]) });
    expect(checkMetadata(metadata)).toEqual({ a: [{ b: 1 }] });
  });
});

describe('a refresh', () => {
  test('merges metadata at the top level: the new value wins, other keys stay', () => {
    const old = { kept: 1, replaced: { a: 1 } };
    expect(mergeMetadata(old, { replaced: { b: 2 }, added: null })).toEqual({
      kept: 1,
      replaced: { b: 2 },
      added: null,
    });
    expect(old).toEqual({ kept: 1, replaced: { a: 1 } });
  });

  test('joins tags, the old ones first', () => {
    expect(mergeTags(['b', 'a'], ['c', 'a'])).toEqual(['b', 'a', 'c']);
  });

  test('is refused when the two together are too large', () => {
    const half = 'x'.repeat(MAX_METADATA_BYTES / 2);
    expect(refusal(() => mergeMetadata({ a: half }, { b: half })).code).toBe('invalid_input');
    const many = (prefix: string) => Array.from({ length: MAX_TAGS }, (_, index) => `${prefix}${index}`);
    expect(refusal(() => mergeTags(many('a'), many('b'))).message).toContain('128 tags');
  });
});
