import { expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { memoryBatchSchema, memoryDraftSchema } from './memory-draft.ts';
import { parseContract } from './parse-contract.ts';
import { recallRequestSchema } from './recall-request.ts';

const DRAFT = { namespace: 'team.notes', content: 'We deploy on Tuesdays.' };

test('an unknown field is refused, with the known one it resembles', () => {
  const error = refusal(() => parseContract(recallRequestSchema, { query: 'x', namespaces_: ['a'] }));
  expect(error.code).toBe('invalid_input');
  expect(error.message).toBe('namespaces_: this field is unknown. Did you mean namespaces?');
  expect(error.details).toMatchObject([{ path: 'namespaces_', hint: 'Did you mean namespaces?' }]);
});

test.each([
  ['weights', 'Name one of its profiles'],
  ['recency_decay', 'Name one of its profiles'],
  ['bonus', 'Name one of its profiles'],
  ['user_id', 'follows from who is asking'],
  ['tenantId', 'follows from who is asking'],
])('%s in a request is refused with the reason', (name, reason) => {
  const error = refusal(() => parseContract(recallRequestSchema, { query: 'x', [name]: 1 }));
  expect(error.message).toContain(reason);
});

test('identity and life cycle are never part of a draft', () => {
  for (const name of ['owner_id', 'tenant_id', 'created_by', 'status', 'id', 'created_at', 'access_count']) {
    const error = refusal(() => parseContract(memoryDraftSchema, { ...DRAFT, [name]: 'bob' }));
    expect(error.details[0]?.path).toBe(name);
  }
});

test('__proto__ at the top is an unknown field like any other', () => {
  const error = refusal(() =>
    parseContract(memoryDraftSchema, JSON.parse('{"__proto__":{"namespace":"a"}}')),
  );
  expect(error.details.map(({ path }) => path)).toContain('__proto__');
});

test('every field at fault is named', () => {
  const error = refusal(() =>
    parseContract(memoryDraftSchema, { namespace: 'a..b', content: ' ', importance: 2 }),
  );
  expect(error.details.map(({ path }) => path)).toEqual(['namespace', 'content', 'importance']);
});

test('a missing field is called missing, a wrong kind says what was got and what is allowed', () => {
  expect(refusal(() => parseContract(memoryDraftSchema, { content: 'x' })).message).toBe(
    'namespace: it is missing; allowed: a text.',
  );
  expect(refusal(() => parseContract(memoryDraftSchema, { ...DRAFT, content: 5 })).message).toBe(
    'content: it is the wrong kind of value. Got 5; allowed: a text.',
  );
  expect(refusal(() => parseContract(memoryDraftSchema, undefined)).message).toBe(
    'The request: it is missing; allowed: an object.',
  );
  expect(refusal(() => parseContract(memoryDraftSchema, [DRAFT])).message).toBe(
    'The request: it is the wrong kind of value. Got a list; allowed: an object.',
  );
});

test('a batch names the item, by position and in the path', () => {
  const memories = [DRAFT, { ...DRAFT, content: '\u0000' }, { ...DRAFT, contents: 'x' }, { content: 'x' }];
  const error = refusal(() => parseContract(memoryBatchSchema, { memories }, { itemsOf: 'memories' }));
  expect(error.details.map(({ item, path }) => [item, path])).toEqual([
    [1, 'memories[1].content'],
    [2, 'memories[2].contents'],
    [3, 'memories[3].namespace'],
  ]);
  expect(error.message).toMatch(/^memories\[1\]\.content: it holds a NUL/);
});

test('a rule of a whole list is not taken for a fault of one item', () => {
  const error = refusal(() => parseContract(memoryBatchSchema, { memories: [] }, { itemsOf: 'memories' }));
  expect(error.details).toMatchObject([{ path: 'memories', got: 0 }]);
  expect(error.details[0]).not.toHaveProperty('item');
});

test('of alternatives the faults of the one that was meant are told', () => {
  const filter = (tags: unknown) => () => parseContract(recallRequestSchema, { filter: { tags } });
  expect(refusal(filter({ anny: ['a'] })).message).toBe(
    'filter.tags.anny: this field is unknown. Did you mean any?',
  );
  expect(refusal(filter(['a', 5])).message).toContain('filter.tags[1]: it is the wrong kind of value. Got 5');
  expect(refusal(filter(5)).message).toBe(
    'filter.tags: it is the wrong kind of value. Got 5; allowed: a list or an object.',
  );
});

test('at most 20 faults are told', () => {
  const memories = Array.from({ length: 30 }, () => ({ namespace: 'a' }));
  expect(refusal(() => parseContract(memoryBatchSchema, { memories })).details).toHaveLength(20);
});

test('a field name as long as the body is repeated in short', () => {
  const error = refusal(() => parseContract(recallRequestSchema, { ['x'.repeat(100_000)]: 1 }));
  expect(JSON.stringify([error.message, error.details]).length).toBeLessThan(1_000);
});
