import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSegment } from '../core/namespace.ts';
import { userSegment } from './user-segment.ts';

test.each([
  ['ada', 'ada'],
  ['auth0|5f7c', 'auth0~7C5f7c'],
  ['ada@example.org', 'ada@example~2Eorg'],
  ['a~2Eb', 'a~7E2Eb'],
  ['zoë', 'zoë'],
  ['a b', 'a~20b'],
  // U+20AC is E2 82 AC in UTF-8.
  ['€', '~E2~82~AC'],
])('%s becomes %s', (subject, segment) => {
  expect(userSegment(subject)).toBe(segment);
});

test('whatever the subject, it is one segment, and two subjects are two users', () => {
  const anySubject = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(anySubject, anySubject, (one, other) => {
      const segment = userSegment(one);
      if ([...segment].length <= 128) expect(parseSegment(segment, 'user_id')).toBe(segment);
      expect(segment === userSegment(other)).toBe(one === other);
    }),
    { numRuns: 2000 },
  );
});

test('a user named like the escaped form of another is not that other', () => {
  expect(userSegment('ada@example~2Eorg')).not.toBe(userSegment('ada@example.org'));
});
