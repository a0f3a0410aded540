/** Nothing in it is changed by folding but letter case. */
const ASCII_ONLY = /^\p{ASCII}*$/u;

/** Characters nobody sees: joiners, soft hyphens, direction marks, variation selectors, the byte order mark. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Compatibility decomposition would glue these to the word before them: `Acme™` is not `acmetm`. */
const GLUED_SYMBOLS = /[™℠]/g;

/**
 * Marks that people leave out when they type: accents of Latin and Greek, vowel points of Hebrew and Arabic.
 * Elsewhere a mark is a letter's other half (Devanagari vowels, Japanese dakuten, Cyrillic й) and stays.
 */
const LETTER_WITH_OPTIONAL_MARKS =
  /([\p{Script=Latin}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}])\p{Mn}+/gu;

/**
 * Unicode's stream-safe limit (UAX 15). Normalising sorts the marks of a letter, at a cost that rises with the
 * square of their number: 64 KiB of marks on one letter took 0.7 s.
 */
const MARKS_BEYOND_LIMIT = /(\p{M}{30})\p{M}+/gu;

/** Circles, squares and keycaps around a character. */
const ENCLOSING_MARKS = /\p{Me}/gu;

/** Letters with a plain spelling that Unicode does not decompose. */
const PLAIN_SPELLING: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['ẞ', 'SS'],
  ['æ', 'ae'],
  ['Æ', 'AE'],
  ['œ', 'oe'],
  ['Œ', 'OE'],
  ['ø', 'o'],
  ['Ø', 'O'],
  ['ł', 'l'],
  ['Ł', 'L'],
  ['đ', 'd'],
  ['Đ', 'D'],
  ['ı', 'i'],
]);
const HAS_PLAIN_SPELLING = new RegExp(`[${[...PLAIN_SPELLING.keys()].join('')}]`, 'g');

/**
 * One spelling for texts that read the same: compatibility forms (full width, ligatures), composed and
 * decomposed accents, typographic apostrophes, invisible characters. Letter case is kept, because
 * `createdAt` is split by it; tokens are lowered later.
 */
export function foldText(text: string): string {
  if (ASCII_ONLY.test(text)) return text;
  return text
    .replace(INVISIBLE, '')
    .replace(GLUED_SYMBOLS, ' ')
    .replace(/[‘’ʼ＇]/g, "'")
    .replace(MARKS_BEYOND_LIMIT, '$1')
    .normalize('NFKD')
    .replace(LETTER_WITH_OPTIONAL_MARKS, '$1')
    .replace(ENCLOSING_MARKS, '')
    .replace(HAS_PLAIN_SPELLING, (letter) => PLAIN_SPELLING.get(letter) ?? letter)
    .normalize('NFC');
}
