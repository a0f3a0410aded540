/**
 * Finds where a stored text imitates a part of the memory block, and breaks the imitation visibly: a backslash
 * after its first word, or after its first dash (`-\-- MEMORY\ ENTRY (…`).
 *
 * Texts are compared folded: compatibility forms, case, accents, white space, invisible characters and
 * backslashes make no difference, nor does where a line is wrapped. Because backslashes make none, a marked text
 * has its imitations at the same places as the unmarked one: the marks can be found again and taken out, and a
 * content that brings its own backslash gets one more.
 *
 * Inside the text rather than before the line, so that the imitated text does not occur in the block as a
 * substring either: whoever searches the block for a header or the note finds the real ones only.
 */

/** Texts that must not be imitated, folded. Make one with {@link guardAgainst}. */
export interface ImitationGuard {
  /** Compared with the letters and digits of a text alone, so that decoration is no disguise. */
  readonly letters: readonly string[];
  /** For lines without letters, such as a fence of quotes: compared with all visible characters. */
  readonly symbols: readonly string[];
  /** Whether a line that starts with three dashes counts, whatever follows. */
  readonly dashedLines: boolean;
}

/** A folded text of this length does not occur by chance: it is an imitation anywhere in a line. */
const ANYWHERE_LENGTH = 16;

/** One way to compare: which characters count, and from which length on a match at a line's start is enough. */
interface Comparison {
  readonly kept: RegExp;
  /** Shorter texts have to be the whole line, or “Note:” would mark every line that begins with “Notebook”. */
  readonly lineStartLength: number;
}

const BY_LETTERS: Comparison = { kept: /[\p{L}\p{N}]/u, lineStartLength: 8 };
/** Lines of signs alone are short: a fence of three quotes is one, whatever follows it. */
const BY_SYMBOLS: Comparison = {
  kept: /[^\s\\\p{M}\p{Default_Ignorable_Code_Point}]/u,
  lineStartLength: 3,
};

/** What a reader may take for a dash: dash punctuation, minus signs, bullets, drawn lines, CJK strokes. */
const DASH = String.raw`[\p{Pd}\u00af\u02c9\u02d7\u203e\u2043\u207b\u208b\u2212\u23af\u23e4\u2500\u2501\u2504\u2505\u2508\u2509\u254c\u254d\u2574\u2576\u2578\u257a\u2796\u2f00\u30fc\u3161\u4e00\uff70]`;
/** What may stand before or between dashes without hiding them. */
const GAPS = String.raw`(?:(?!\n)[\s\\\u2800\p{Default_Ignorable_Code_Point}])*`;
const DASHED_LINE = new RegExp(`^${GAPS}(?=${DASH}(?:${GAPS}${DASH}){2})`, 'gmu');

/** The rest of a word, or a single character; with the accents and joiners that belong to it. */
const UNIT =
  /[\p{L}\p{N}\p{M}\p{Default_Ignorable_Code_Point}]+|.[\p{M}\p{Default_Ignorable_Code_Point}]*/suy;

/** A text reduced to what is compared, with the way back. */
interface Folded {
  readonly text: string;
  /** For each code unit of `text`: where in the source its character stands. */
  readonly sources: readonly number[];
  /** Where each line of the source starts in `text`; ascending, then the length. */
  readonly lineStarts: readonly number[];
}

function foldCharacter(char: string): string {
  return char <= '\x7f' ? char.toLowerCase() : char.normalize('NFKD').toLowerCase().normalize('NFKD');
}

function fold(text: string, { kept }: Comparison): Folded {
  let folded = '';
  const sources: number[] = [];
  const lineStarts = [0];
  let index = 0;
  for (const char of text) {
    if (char === '\n' && lineStarts.at(-1) !== folded.length) lineStarts.push(folded.length);
    for (const piece of foldCharacter(char)) {
      if (!kept.test(piece)) continue;
      folded += piece;
      for (let unit = 0; unit < piece.length; unit += 1) sources.push(index);
    }
    index += char.length;
  }
  return { text: folded, sources, lineStarts: [...lineStarts, folded.length] };
}

/**
 * Guards the lines of texts against imitation. A line without any visible character guards nothing.
 *
 * @param options.dashedLines - Also guard against every line that starts with three dashes.
 */
export function guardAgainst(
  texts: readonly string[],
  { dashedLines }: { readonly dashedLines: boolean },
): ImitationGuard {
  const lines = texts.flatMap((text) => text.split('\n'));
  const letters = new Set<string>();
  const symbols = new Set<string>();
  for (const line of lines) {
    const byLetters = fold(line, BY_LETTERS).text;
    if (byLetters !== '') letters.add(byLetters);
    else symbols.add(fold(line, BY_SYMBOLS).text);
  }
  symbols.delete('');
  return { letters: [...letters], symbols: [...symbols], dashedLines };
}

/** Where in a folded text a guarded one occurs. */
function occurrences({ text, lineStarts }: Folded, guarded: string, lineStartLength: number): number[] {
  if (guarded.length >= ANYWHERE_LENGTH) return occurrencesAnywhere(text, guarded);
  const isAtLine = (start: number, line: number) =>
    guarded.length >= lineStartLength
      ? text.startsWith(guarded, start)
      : text.slice(start, lineStarts[line + 1]) === guarded;
  return lineStarts.filter(isAtLine);
}

function occurrencesAnywhere(text: string, guarded: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(guarded); at !== -1; at = text.indexOf(guarded, at + guarded.length)) {
    starts.push(at);
  }
  return starts;
}

function startsIn(text: string, guarded: readonly string[], comparison: Comparison): number[] {
  if (guarded.length === 0) return [];
  const folded = fold(text, comparison);
  return guarded
    .flatMap((one) => occurrences(folded, one, comparison.lineStartLength))
    .map((start) => folded.sources[start])
    .filter((start) => start !== undefined);
}

function dashedLineStarts(text: string): number[] {
  return Array.from(text.matchAll(DASHED_LINE), (match) => match.index + match[0].length);
}

function unitEnd(text: string, start: number): number {
  UNIT.lastIndex = start;
  UNIT.test(text);
  return UNIT.lastIndex;
}

/**
 * The places, ascending, where a mark breaks each imitation. In a marked text, where the marks stand.
 */
export function markPlaces(text: string, guard: ImitationGuard): number[] {
  const starts = [
    ...startsIn(text, guard.letters, BY_LETTERS),
    ...startsIn(text, guard.symbols, BY_SYMBOLS),
    ...(guard.dashedLines ? dashedLineStarts(text) : []),
  ];
  return [...new Set(starts.map((start) => unitEnd(text, start)))].sort((a, b) => a - b);
}

/** Marks every imitation in a text with a backslash. Takes what {@link visibleText} gives. */
export function markImitations(text: string, guard: ImitationGuard): string {
  let marked = '';
  let done = 0;
  for (const place of markPlaces(text, guard)) {
    marked += `${text.slice(done, place)}\\`;
    done = place;
  }
  return marked + text.slice(done);
}
