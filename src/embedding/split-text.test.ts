import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { halves, splitByTokens } from './split-text.ts';

/** One token a letter, spaces free. */
const letters = (text: string) => text.replace(/\s/g, '').length;
/** One token a word, however long. */
const words = (text: string) => text.match(/\S+/g)?.length ?? 0;

describe('cutting a text at a token limit', () => {
  test('cuts between words, and a space stays with the word after it', () => {
    expect(splitByTokens('one two three four', 2, words)).toEqual(['one two', ' three four']);
    // o-n-e t-w-o: six letters; with t-h-r-e-e it would be eleven.
    expect(splitByTokens('one two three', 6, letters)).toEqual(['one two', ' three']);
  });

  test('cuts inside a word only where the word alone is too long', () => {
    // " abcdefgh" is halved at 4 of 9 characters; "defgh" has five letters and is halved again.
    expect(splitByTokens('ab abcdefgh ab', 4, letters)).toEqual(['ab', ' abc', 'de', 'fgh', ' ab']);
  });

  test('leaves a text within the limit in one piece, and makes none of an empty one', () => {
    expect(splitByTokens(' two words ', 2, words)).toEqual([' two words ']);
    expect(splitByTokens('   ', 2, words)).toEqual(['   ']);
    expect(splitByTokens('', 2, words)).toEqual([]);
  });

  test('never cuts an emoji, a flag-like family or an accent from its letter', () => {
    const family = '👨‍👩‍👧‍👦';
    for (const character of [family, '👍🏽', 'e\u0301\u0323', '❤\ufe0f']) {
      const pieces = splitByTokens(character.repeat(9), 12, (text) => text.length);
      expect(pieces.join('')).toBe(character.repeat(9));
      for (const piece of pieces) expect(piece.replaceAll(character, '')).toBe('');
    }
  });

  test('keeps every character, and the limit wherever a cut is possible', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 80 }),
        fc.integer({ min: 1, max: 20 }),
        (text, limit) => {
          const pieces = splitByTokens(text, limit, letters);
          expect(pieces.join('')).toBe(text);
          for (const piece of pieces) {
            if (letters(piece) > limit) expect(halves(piece)[1]).toBe('');
          }
        },
      ),
    );
  });
});
