import { expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { decodeSearchCursor, encodeSearchCursor } from './search-cursor.ts';

const SEARCH = { query: 'tea', filter: { type: 'fact', tags: ['a'] } };

test('a cursor goes on where it was made, in whatever order the arguments are repeated', () => {
  const cursor = encodeSearchCursor(7, SEARCH);
  expect(decodeSearchCursor(cursor, SEARCH)).toBe(7);
  expect(decodeSearchCursor(cursor, { filter: { tags: ['a'], type: 'fact' }, query: 'tea' })).toBe(7);
});

test.each([
  ['of another search', encodeSearchCursor(7, SEARCH), { ...SEARCH, query: 'coffee' }],
  ['of a search of a list in another order', encodeSearchCursor(1, { n: ['a', 'b'] }), { n: ['b', 'a'] }],
  ['that nobody made', 'bm9ib2R5', SEARCH],
  ['that is empty', '', SEARCH],
])('a cursor %s is refused', (_, cursor, search) => {
  expect(refusal(() => decodeSearchCursor(cursor, search)).details[0]?.path).toBe('cursor');
});
