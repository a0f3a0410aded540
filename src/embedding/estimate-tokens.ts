/**
 * About how many tokens a model of unknown vocabulary makes of a text, rather too many than too few: a third of
 * the ASCII letters, every other mark, and every character beyond ASCII counts.
 *
 * English prose has 4.2 to 4.6 letters a token under WordPiece and under OpenAI's encodings; punctuation and
 * Chinese have about one character a token. Random hexadecimal text (2 letters a token) is still counted too
 * low: a service that then refuses the text is asked again with half of it.
 */
export function estimateTokens(text: string): number {
  const words = text.match(/[A-Za-z0-9]+/g) ?? [];
  const others = text.match(/[^A-Za-z0-9\s]/gu) ?? [];
  return words.reduce((sum, word) => sum + Math.ceil(word.length / 3), others.length);
}
