import { expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { encodeListCursor } from './list-cursor.ts';
import { listQuerySchema, listRequestSchema } from './list-request.ts';
import { parseContract } from './parse-contract.ts';

const CURSOR = {
  createdAt: new Date('2026-05-02T09:30:00.123Z'),
  id: '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f',
};
const query = (fields: object) => parseContract(listQuerySchema, fields);

test('a query string reaches the same names as a body', () => {
  const fromQuery = query({
    namespace: ['a.*', 'b'],
    type: 'fact',
    tag: ['x', 'y'],
    any_tag: 'z',
    status: 'confirmed',
    observed_from: '2026-01-01',
    metadata: '{"year":{"gte":2024}}',
    lifecycle: 'any',
    text: 'tea',
    limit: '20',
    cursor: encodeListCursor(CURSOR),
  });
  const fromBody = parseContract(listRequestSchema, {
    namespaces: ['a.*', 'b'],
    filter: {
      type: 'fact',
      tags: { all: ['x', 'y'], any: ['z'] },
      status: 'confirmed',
      observed_at: { from: '2026-01-01' },
      metadata: { year: { gte: 2024 } },
    },
    lifecycle: 'any',
    text: 'tea',
    limit: 20,
    cursor: encodeListCursor(CURSOR),
  });
  expect(fromQuery).toEqual(fromBody);
  expect(fromQuery.after).toEqual(CURSOR);
});

test.each(['-1', '0', 'abc', '1e9', '1.5', '', ' 5', '0x10', '501', '99999999999999999999'])(
  'limit=%s is refused',
  (limit) => {
    expect(refusal(() => query({ limit })).details[0]?.path).toBe('limit');
  },
);

test.each([-1, 0, 1.5, 501, Number.NaN])('a limit of %s in a body is refused', (limit) => {
  expect(refusal(() => parseContract(listRequestSchema, { limit })).details[0]?.path).toBe('limit');
});

test.each<[string, object]>([
  ['cursor', { cursor: 'abc' }],
  ['cursor', { cursor: '' }],
  ['cursor', { cursor: Buffer.from('1 not-an-id').toString('base64url') }],
  ['lifecycle', { lifecycle: 'dead' }],
  ['metadata', { metadata: '{' }],
  ['metadata', { metadata: '[]' }],
  ['type', { type: '' }],
  ['text', { text: ' ' }],
  ['namespace[1]', { namespace: ['a', 'b..c'] }],
  ['observed_until', { observed_from: '2026-02-01', observed_until: '2026-02-01' }],
  ['user_id', { user_id: 'bob' }],
])('refused, naming %s: %j', (path, fields) => {
  expect(refusal(() => query(fields)).details[0]?.path).toBe(path);
});
