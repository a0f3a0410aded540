import { expect, test } from 'vitest';
import { printable, printableLine } from './printable.ts';

test('what would steer a terminal stands as its code point', () => {
  expect(printable('a\u001b[2Jb')).toBe('a<U+001B>[2Jb');
  expect(printable('\u009b31m')).toBe('<U+009B>31m');
  expect(printable('\u001b]0;title\u0007')).toBe('<U+001B>]0;title<U+0007>');
  expect(printable('abc\b\b\bxyz\u007f')).toBe('abc<U+0008><U+0008><U+0008>xyz<U+007F>');
  expect(printable('\u202egnp.exe\u2069')).toBe('<U+202E>gnp.exe<U+2069>');
  expect(printable('\u{e0041}')).toBe('<U+E0041>');
  expect(printable('pass\u200bword')).toBe('pass<U+200B>word');
});

test('text stays text: line feeds, tabs as spaces, every script, emoji of several characters', () => {
  expect(printable('a\r\nb\rc\n\td')).toBe('a\nb\nc\n    d');
  const text = 'naïve 日本語 עברית 👩‍👩‍👧';
  expect(printable(text)).toBe(text);
});

test('a line is one line, cut at whole characters', () => {
  expect(printableLine('  a\n\n b\u0007 ', 10)).toBe('a b<U+0007>'.slice(0, 9).concat('…'));
  expect(printableLine('😀😀😀😀', 3)).toBe('😀😀…');
  expect(printableLine('abc', 3)).toBe('abc');
  expect(printableLine('x'.repeat(1_000_000), 5)).toBe('xxxx…');
});
