import type { RawBytePairRanks } from 'gpt-tokenizer/BytePairEncodingCore';
import { utf8Length } from '../core/entry.ts';
import type { TokenCounter } from '../core/ports.ts';

/**
 * Longest piece that is merged, in UTF-16 code units. A byte-pair encoder cuts a text into words, runs of signs
 * and runs of spaces, and merges inside each, in a time that rises with the square of its length: 64 KiB of one
 * letter or of spaces take 6 s, in pieces of 500 at most 0.3 s.
 */
const LONGEST_PIECE = 500;

/** Merges that are remembered, by piece: words come back, and 10,000 of the longest still fit in 20 MB. */
const MERGE_CACHE_SIZE = 10_000;

/** Names like `<|endoftext|>` inside a content are text like any other. */
const NOTHING_SPECIAL = { disallowedSpecial: new Set<string>() };

/**
 * A counter on one of OpenAI's encodings, exact but for pieces of more than 500 characters without a break
 * (no prose has them): those count as their UTF-8 bytes, which is never too few.
 */
export async function bytePairCounter(
  name: 'o200k_base' | 'cl100k_base',
  ranks: RawBytePairRanks,
): Promise<TokenCounter> {
  const [{ GptEncoding }, { getEncodingParams }] = await Promise.all([
    import('gpt-tokenizer/GptEncoding'),
    import('gpt-tokenizer/modelParams'),
  ]);
  // An encoder of our own: the package's ready-made one is shared with whoever else uses it in this process.
  const encoder = GptEncoding.getEncodingApi(name, () => ranks);
  encoder.setMergeCacheSize(MERGE_CACHE_SIZE);
  const pieces = new RegExp(getEncodingParams(name, () => ranks).tokenSplitRegex);
  const countMerged = (text: string) => encoder.countTokens(text, NOTHING_SPECIAL);
  const countPiece = (piece: string) =>
    piece.length > LONGEST_PIECE ? utf8Length(piece) : countMerged(piece);

  return {
    name,
    count(text) {
      if (!hasLongPiece(text, pieces)) return countMerged(text);
      let tokens = 0;
      for (const [piece] of text.matchAll(pieces)) tokens += countPiece(piece);
      return tokens;
    },
  };
}

function hasLongPiece(text: string, pieces: RegExp): boolean {
  if (text.length <= LONGEST_PIECE) return false;
  for (const [piece] of text.matchAll(pieces)) {
    if (piece.length > LONGEST_PIECE) return true;
  }
  return false;
}
