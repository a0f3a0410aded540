import { expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { memoryDraftSchema } from './memory-draft.ts';
import { memoryPatchSchema } from './memory-patch.ts';
import { parseContract } from './parse-contract.ts';

const DRAFT = { namespace: 'team.notes', content: 'We deploy on Tuesdays.' };
const parse = (fields: object) => parseContract(memoryDraftSchema, { ...DRAFT, ...fields });

test('a draft in wire form becomes one in the core’s names; metadata keeps its keys', () => {
  const metadata = { userName: 1, user_name: 2, nested: { snake_key: null } };
  expect(
    parse({
      type: 'fact',
      metadata,
      tags: ['b', 'a', 'b'],
      source: { kind: 'chat', ref: '4711' },
      importance: 0,
      observed_at: '2026-05-02T09:30:00+02:00',
      expires_at: '2027-01-01',
    }),
  ).toEqual({
    ...DRAFT,
    type: 'fact',
    metadata,
    tags: ['b', 'a'],
    source: { kind: 'chat', ref: '4711' },
    importance: 0,
    observedAt: new Date('2026-05-02T07:30:00Z'),
    expiresAt: new Date('2027-01-01T00:00:00Z'),
  });
});

test('null says the same as leaving it out where an entry has null', () => {
  expect(parse({ source: null, observed_at: null, expires_at: null })).toEqual({
    ...DRAFT,
    type: undefined,
    metadata: undefined,
    tags: undefined,
    source: undefined,
    importance: undefined,
    observedAt: undefined,
    expiresAt: undefined,
  });
});

test('a metadata key named __proto__ is an ordinary key', () => {
  const { metadata } = parse({ metadata: JSON.parse('{"__proto__":{"a":1}}') });
  expect(JSON.stringify(metadata)).toBe('{"__proto__":{"a":1}}');
  expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
});

test.each<[string, object]>([
  ['content', { content: '' }],
  ['content', { content: ' \n' }],
  ['content', { content: [] }],
  ['content', { content: undefined }],
  ['content', { content: 'a\u0000b' }],
  ['content', { content: '\ud800' }],
  ['content', { content: 'x'.repeat(65_537) }],
  ['namespace', { namespace: 'a\u0000' }],
  ['namespace', { namespace: 'a.*' }],
  ['importance', { importance: 1.01 }],
  ['importance', { importance: -0.01 }],
  ['importance', { importance: Number.NaN }],
  ['importance', { importance: Number.POSITIVE_INFINITY }],
  ['importance', { importance: '0.5' }],
  ['metadata', { metadata: [] }],
  ['metadata', { metadata: null }],
  ['metadata.a', { metadata: { a: Number.NaN } }],
  ['metadata.a', { metadata: { a: '\u0000' } }],
  ['metadata', { metadata: { 'a\u0000': 1 } }],
  ['tags[0]', { tags: [''] }],
  ['source.kind', { source: { kind: ' ' } }],
  ['source.kinds', { source: { kind: 'chat', kinds: 1 } }],
  ['observed_at', { observed_at: '2026-02-30' }],
  ['observed_at', { observed_at: '2026-05-02T09:30:00' }],
  ['expires_at', { expires_at: 1_767_225_600 }],
])('refused, naming %s: %j', (path, fields) => {
  const error = refusal(() => parse(fields));
  expect(error.code).toBe('invalid_input');
  expect(error.details[0]?.path).toBe(path);
});

test('a patch tells leaving alone from clearing, and must change something', () => {
  expect(parseContract(memoryPatchSchema, { observed_at: null, importance: 0 })).toEqual({
    observedAt: null,
    expiresAt: undefined,
    importance: 0,
  });
  expect(refusal(() => parseContract(memoryPatchSchema, {})).message).toContain('changes nothing');
  expect(refusal(() => parseContract(memoryPatchSchema, { namespace: 'a' })).details[0]?.path).toBe(
    'namespace',
  );
});
