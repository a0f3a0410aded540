import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { EmbeddingProvider, EmbeddingPurpose, TextCoverage } from '../core/ports.ts';
import { wholeNumber } from './option-checks.ts';

export interface CacheOptions {
  /** Memory for vectors, bytes, 1 or more, default 32 MiB: 16,000 texts of 512 dimensions, 5,000 of 1,536. */
  readonly maxBytes?: number | undefined;
}

export const DEFAULT_CACHE_BYTES = 32 * 1024 * 1024;

/** What is remembered of a text. Without a vector: the text had nothing to embed, which is worth knowing too. */
interface Remembered {
  readonly vector: Float32Array | null;
  readonly coverage: TextCoverage;
}

/** Bytes of a key and of what the cache itself keeps for an entry. */
const ENTRY_OVERHEAD_BYTES = 200;

/**
 * Remembers vectors by model, purpose and the SHA-256 of the text, so that a text that comes again is not paid for
 * again, within a call and between calls. What was used longest ago goes first. Errors are not remembered.
 *
 * Callers get copies: a vector that one of them changed would be every other caller's too.
 *
 * @throws PalimpsestError `invalid_config` for a size that is none
 */
export function cachedProvider(inner: EmbeddingProvider, options: CacheOptions = {}): EmbeddingProvider {
  const cache = new LRUCache<string, Remembered>({
    maxSize: wholeNumber('cache.maxBytes', options.maxBytes ?? DEFAULT_CACHE_BYTES, 1),
    sizeCalculation: ({ vector }) => ENTRY_OVERHEAD_BYTES + (vector?.byteLength ?? 0),
  });
  const keyOf = (text: string, purpose: EmbeddingPurpose) =>
    `${inner.modelId}\n${purpose}\n${createHash('sha256').update(text).digest('base64')}`;

  return {
    modelId: inner.modelId,
    dimensions: inner.dimensions,
    async embed(texts, purpose, callOptions = {}) {
      const keys = texts.map((text) => keyOf(text, purpose));
      const found = new Map<string, Remembered>();
      const missing = new Map<string, string>();
      for (const [item, key] of keys.entries()) {
        const remembered = cache.get(key);
        if (remembered === undefined) missing.set(key, texts[item] ?? '');
        else found.set(key, remembered);
      }
      const made = await embedMissing(inner, missing, purpose, callOptions.signal);
      for (const [key, remembered] of made) cache.set(key, remembered);
      return keys.map((key, item) => {
        const { vector, coverage } = found.get(key) ?? made.get(key) ?? NOTHING;
        if (coverage !== 'whole') callOptions.onPartial?.(item, coverage);
        return vector?.slice() ?? null;
      });
    },
    async close() {
      cache.clear();
      await inner.close?.();
    },
  };
}

const NOTHING: Remembered = { vector: null, coverage: 'whole' };

async function embedMissing(
  inner: EmbeddingProvider,
  missing: ReadonlyMap<string, string>,
  purpose: EmbeddingPurpose,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Remembered>> {
  if (missing.size === 0) return new Map();
  const coverages = new Map<number, TextCoverage>();
  const vectors = await inner.embed([...missing.values()], purpose, {
    signal,
    onPartial: (item, coverage) => coverages.set(item, coverage),
  });
  return new Map(
    [...missing.keys()].map((key, item) => [
      key,
      { vector: vectors[item] ?? null, coverage: coverages.get(item) ?? 'whole' },
    ]),
  );
}
