import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitContent } from './split-content.ts';

test('a text that fits is one part', () => {
  expect(splitContent('ten bytes.', 10)).toEqual(['ten bytes.']);
  expect(splitContent('', 10)).toEqual([]);
});

test('the best seam in the second half of a part is taken: paragraph, line, sentence, word', () => {
  expect(splitContent('one two\n\nthree\nfour', 16)).toEqual(['one two\n\n', 'three\nfour']);
  expect(splitContent('one two\nthree four', 12)).toEqual(['one two\n', 'three four']);
  expect(splitContent('A first. Then more', 14)).toEqual(['A first. ', 'Then more']);
  expect(splitContent('alpha beta gamma', 12)).toEqual(['alpha beta ', 'gamma']);
});

test('without a seam it is cut between characters, never inside one', () => {
  // four bytes each: two fit into ten bytes
  expect(splitContent('😀😀😀😀😀', 10)).toEqual(['😀😀', '😀😀', '😀']);
  // three bytes each
  expect(splitContent('日本語文章', 10)).toEqual(['日本語', '文章']);
});

test('the parts joined are the text, and each fits', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.integer({ min: 4, max: 40 }),
      (text, max) => {
        const parts = splitContent(text, max);
        expect(parts.join('')).toBe(text);
        for (const part of parts) expect(Buffer.byteLength(part)).toBeLessThanOrEqual(max);
      },
    ),
  );
});
