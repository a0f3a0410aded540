import { describe, expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { entityTag, versionOf } from './entity-tag.ts';
import { errorOf } from './error-of.ts';
import { decodeListCursor, encodeListCursor } from './list-cursor.ts';
import { readSubjectHeaders, writeSubjectHeaders } from './request-headers.ts';

describe('the subject of a request', () => {
  test('comes back from the headers as it was, whatever is in its ids', () => {
    const asked = {
      subject: { agentId: 'Hélper 1%', taskId: 't', chatId: undefined, sessionId: '😀' },
      origin: 'tool_call' as const,
    };
    const headers = writeSubjectHeaders(asked);
    expect(Object.values(headers).every((value) => /^[\x20-\x7e]+$/.test(value))).toBe(true);
    expect(readSubjectHeaders(headers)).toEqual(asked);
  });

  test('a header that stands twice, or says nothing known, is refused', () => {
    expect(refusal(() => readSubjectHeaders({ 'palimpsest-agent-id': ['a', 'b'] })).details[0]?.got).toBe(2);
    expect(refusal(() => readSubjectHeaders({ 'palimpsest-origin': '' })).code).toBe('invalid_input');
  });
});

test.each([
  [undefined, undefined],
  ['*', undefined],
  [entityTag(0), 0],
  [' "17" ', 17],
  ['W/"17"', -1],
  ['17', -1],
  ['"1", "2"', -1],
])('If-Match: %s asks for %s', (ifMatch, version) => {
  expect(versionOf(ifMatch)).toBe(version);
});

test('a cursor is a place, and texts that are none are refused', () => {
  const cursor = { createdAt: new Date(-1), id: '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f' };
  expect(encodeListCursor(cursor)).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(decodeListCursor(encodeListCursor(cursor), 'cursor')).toEqual(cursor);
  const outOfTime = [999_999_999_999_999, Date.parse('0001-01-01T00:00:00Z') - 1].map((time) =>
    btoa(`${time} ${cursor.id}`).replace(/=+$/, ''),
  );
  for (const text of ['', 'x', 'xxxxx', '💥', encodeListCursor(cursor).slice(1), ...outOfTime]) {
    expect(refusal(() => decodeListCursor(text, 'cursor')).details[0]?.path).toBe('cursor');
  }
});

test('an error comes back with its code, its details and when to try again', () => {
  const body = {
    error: { code: 'conflict', message: 'No.', details: [{ path: 'a', item: 0 }], request_id: 'r' },
  };
  const error = errorOf(409, body, { retryAfterSeconds: 1 });
  expect([error.code, error.message, error.retryAfterSeconds]).toEqual(['conflict', 'No.', 1]);
  expect(error.details).toEqual([{ path: 'a', item: 0 }]);
  for (const strange of [undefined, null, 'x', {}, { error: 'x' }, { error: { code: 'new_code' } }]) {
    expect(errorOf(502, strange).code).toBe('server_unreachable');
  }
});
