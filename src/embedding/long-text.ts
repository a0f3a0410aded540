import type { TextCoverage } from '../core/ports.ts';
import { oneOf, wholeNumber } from './option-checks.ts';
import { type CountTokens, splitByTokens } from './split-text.ts';

/**
 * What happens to a text that is longer than the model reads. `chunk`: it is cut into parts, and its vector is
 * their mean. `truncate`: only its start is embedded. Either way the entry says so.
 */
export type LongTextRule = 'chunk' | 'truncate';

export interface LongTextOptions {
  /** Default `chunk`. */
  readonly longText?: LongTextRule | undefined;
  /**
   * Parts embedded of one text at most, 1 or more, default 8; what follows them is left out. A page of 64 KiB
   * has about 60 parts for a model that reads 256 tokens, which takes half a minute on one core.
   */
  readonly maxChunks?: number | undefined;
}

const RULES: readonly LongTextRule[] = ['chunk', 'truncate'];

/** @throws PalimpsestError `invalid_config` for options that are neither left out nor of the allowed values */
export function checkLongText({ longText, maxChunks }: LongTextOptions): void {
  if (longText !== undefined) oneOf('longText', longText, RULES);
  if (maxChunks !== undefined) wholeNumber('maxChunks', maxChunks, 1);
}

export const DEFAULT_LONG_TEXT = { longText: 'chunk', maxChunks: 8 } as const satisfies LongTextOptions;

/** How one text is embedded: piece by piece, each with its share in the mean. */
export interface TextPlan {
  readonly pieces: readonly string[];
  /** Tokens of each piece. */
  readonly weights: readonly number[];
  readonly coverage: TextCoverage;
}

/** The whole text in one piece. */
export function wholeText(text: string): TextPlan {
  return { pieces: [text], weights: [1], coverage: 'whole' };
}

/** `maxTokens` is what the model reads, less what it and a prefix add; 1 or more. */
export function planText(
  text: string,
  maxTokens: number,
  countTokens: CountTokens,
  options: LongTextOptions = {},
): TextPlan {
  // No encoding makes more tokens than bytes, so most texts need not be counted.
  if (Buffer.byteLength(text) <= maxTokens || countTokens(text) <= maxTokens) return wholeText(text);
  const { longText = DEFAULT_LONG_TEXT.longText, maxChunks = DEFAULT_LONG_TEXT.maxChunks } = options;
  const all = splitByTokens(text, maxTokens, countTokens);
  const pieces = all.slice(0, longText === 'truncate' ? 1 : maxChunks);
  return {
    pieces,
    weights: pieces.map((piece) => Math.max(1, countTokens(piece))),
    coverage: pieces.length < all.length ? 'truncated' : 'chunked',
  };
}

/**
 * The mean of unit vectors, each weighted by its share, at unit length: what the makers of models advise for
 * texts beyond a model's limit (OpenAI Cookbook, "Embedding texts that are longer than the model's maximum
 * context length"). Where the parts cancel each other out exactly, the first one's vector.
 *
 * @param vectors one or more, of equal length
 */
export function weightedMean(vectors: readonly Float32Array[], weights: readonly number[]): Float32Array {
  const [first = new Float32Array()] = vectors;
  if (vectors.length === 1) return first;
  const sums = new Float64Array(first.length);
  vectors.forEach((vector, piece) => {
    const weight = weights[piece] ?? 0;
    for (let index = 0; index < sums.length; index += 1) {
      sums[index] = (sums[index] ?? 0) + weight * (vector[index] ?? 0);
    }
  });
  const length = Math.hypot(...sums);
  return length === 0 ? first : Float32Array.from(sums, (sum) => sum / length);
}
