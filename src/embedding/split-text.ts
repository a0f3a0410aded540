/** How many tokens a model makes of a text, without the ones it adds around it. */
export type CountTokens = (text: string) => number;

/**
 * Cuts a text into pieces of at most `maxTokens`, between words where it can, else between characters. The
 * pieces put together are the text. A single character of more tokens stays a piece of its own.
 */
export function splitByTokens(text: string, maxTokens: number, countTokens: CountTokens): string[] {
  const pieces: string[] = [];
  let piece = '';
  let tokens = 0;
  const finishPiece = () => {
    if (piece !== '') pieces.push(...splitInHalves(piece, maxTokens, countTokens));
    piece = '';
    tokens = 0;
  };
  for (const word of wordsWithSpaces(text)) {
    const wordTokens = countTokens(word);
    if (tokens + wordTokens > maxTokens) finishPiece();
    piece += word;
    tokens += wordTokens;
  }
  finishPiece();
  return pieces;
}

/** Words, each with the spaces before it: byte-pair encodings read a space as part of the word after it. */
function wordsWithSpaces(text: string): readonly string[] {
  // Spaces alone are looked for first: the expression would try each of them as a start.
  if (text.trim() === '') return text === '' ? [] : [text];
  return text.match(/\s*\S+(?:\s+$)?/g) ?? [];
}

/**
 * For a word longer than the limit (base64, a script without spaces), and for the rare piece whose words make
 * more tokens together than one by one.
 */
function splitInHalves(text: string, maxTokens: number, countTokens: CountTokens): string[] {
  if (countTokens(text) <= maxTokens) return [text];
  const [left, right] = halves(text);
  if (right === '') return [left];
  return [left, right].flatMap((half) => splitInHalves(half, maxTokens, countTokens));
}

/**
 * A text in two parts of about one length, cut between words where there is a space near the middle, else
 * between characters. The right part is empty for a text of one character.
 */
export function halves(text: string): readonly [left: string, right: string] {
  const middle = Math.floor(text.length / 2);
  const space = text.lastIndexOf(' ', middle);
  const cut = space > text.length / 4 ? space : characterBorder(text, middle);
  return [text.slice(0, cut), text.slice(cut)];
}

/** What belongs to the character before it: combining marks, emoji modifiers, a variation selector, a joiner. */
const CONTINUES = /^[\p{M}\p{Emoji_Modifier}\u200d]/u;
const ZERO_WIDTH_JOINER = '\u200d';

/** The nearest border between two characters at or before `index`, else the first one after it. */
function characterBorder(text: string, index: number): number {
  for (let border = index; border > 0; border -= 1) if (isBorder(text, border)) return border;
  for (let border = index + 1; border < text.length; border += 1) if (isBorder(text, border)) return border;
  return text.length;
}

function isBorder(text: string, index: number): boolean {
  const isInsidePair =
    /[\ud800-\udbff]/.test(text[index - 1] ?? '') && /[\udc00-\udfff]/.test(text[index] ?? '');
  if (isInsidePair || text[index - 1] === ZERO_WIDTH_JOINER) return false;
  return !CONTINUES.test(text.slice(index, index + 2));
}
