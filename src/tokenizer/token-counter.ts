import { excerpt, invalidInput, PalimpsestError } from '../core/errors.ts';
import type { TokenCounter } from '../core/ports.ts';
import { bytePairCounter } from './byte-pair-counter.ts';
import { UTF8_BYTES, utf8ByteCounter } from './utf8-byte-counter.ts';

/**
 * The tokenizers that come with the product, and how each is loaded. Loading one takes a third of a second and
 * some 75 MB, so it is done when it is first asked for.
 */
const ENCODINGS = {
  o200k_base: async () => (await import('gpt-tokenizer/bpeRanks/o200k_base')).default,
  cl100k_base: async () => (await import('gpt-tokenizer/bpeRanks/cl100k_base')).default,
} as const;

type EncodingName = keyof typeof ENCODINGS;

/** Encoding of OpenAI's models since GPT-4o. */
export const DEFAULT_TOKENIZER: EncodingName = 'o200k_base';

/** Names that {@link createTokenCounter} knows. */
export const TOKENIZER_NAMES: readonly string[] = [...Object.keys(ENCODINGS), UTF8_BYTES];

export interface TokenCounterOptions {
  /**
   * Takes the error when the tokenizer cannot be loaded; the counter is then `utf8_bytes`. Without it the
   * error is thrown.
   */
  readonly onFallback?: ((error: unknown) => void) | undefined;
}

const loaded = new Map<EncodingName, Promise<TokenCounter>>();

/**
 * Makes a token counter.
 *
 * - `o200k_base` (default), `cl100k_base`: counts exactly as OpenAI's models do. For models whose tokenizer is
 *   not public it is an estimate.
 * - `utf8_bytes`: the number of UTF-8 bytes. No tokenizer that works on bytes makes more tokens than that, so a
 *   budget holds for every model, at the price of being used to about a quarter.
 *
 * @throws PalimpsestError `invalid_input` for an unknown name, `internal` when the tokenizer cannot be loaded
 */
export async function createTokenCounter(
  name: string = DEFAULT_TOKENIZER,
  { onFallback }: TokenCounterOptions = {},
): Promise<TokenCounter> {
  const known = checkTokenizerName(name);
  if (known === UTF8_BYTES) return utf8ByteCounter;
  try {
    return await loadOnce(known);
  } catch (error) {
    if (onFallback === undefined) throw error;
    onFallback(error);
    return utf8ByteCounter;
  }
}

/**
 * The name of a tokenizer, checked.
 *
 * @throws PalimpsestError `invalid_input`
 */
export function checkTokenizerName(name: string): EncodingName | typeof UTF8_BYTES {
  if (name === UTF8_BYTES || isEncoding(name)) return name;
  throw unknownTokenizer(name);
}

function isEncoding(name: string): name is EncodingName {
  return Object.hasOwn(ENCODINGS, name);
}

function unknownTokenizer(name: string): PalimpsestError {
  const allowed = TOKENIZER_NAMES.join(', ');
  return invalidInput(`tokenizer: ${excerpt(name)} is unknown. Allowed: ${allowed}.`, {
    path: 'tokenizer',
    got: excerpt(name),
    allowed: [...TOKENIZER_NAMES],
  });
}

function loadOnce(name: EncodingName): Promise<TokenCounter> {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const counter = load(name);
  loaded.set(name, counter);
  // A failure is not kept: the next call may find the package mended.
  counter.catch(() => loaded.delete(name));
  return counter;
}

async function load(name: EncodingName): Promise<TokenCounter> {
  try {
    return await bytePairCounter(name, await ENCODINGS[name]());
  } catch (cause) {
    throw new PalimpsestError(
      'internal',
      `The tokenizer ${name} could not be loaded from the package gpt-tokenizer. Install the packages again, or count by ${UTF8_BYTES}.`,
      { cause },
    );
  }
}
