import { setImmediate as nextTurn } from 'node:timers/promises';
import { MAX_EMBEDDING_DIMENSIONS } from '../core/defaults.ts';
import { PalimpsestError } from '../core/errors.ts';
import type { EmbeddingProvider } from '../core/ports.ts';
import { chunksOf, tokensOfChunk } from './tokens.ts';

export interface HashingOptions {
  /**
   * Length of the vectors, 64..16000, default 512. More dimensions mean fewer collisions of unrelated words
   * and more memory: recall@10 on LoCoMo's even questions is .397 at 256, .422 at 512, .443 at 1024.
   */
  readonly dimensions?: number | undefined;
}

const DEFAULT_DIMENSIONS = 512;
/** Below this a page of text fills every bucket, and any two pages look alike. */
const MIN_DIMENSIONS = 64;

/** Rises with every change that gives any text another vector: stored vectors stay comparable for ever. */
const ALGORITHM_VERSION = 1;

/**
 * Signed feature hashing (Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask Learning"): each
 * token adds its weight, with a sign, to a few buckets. Deterministic, nothing to download, no network; it
 * is token overlap dressed as a vector, and a paraphrase without a shared word scores about 0.
 *
 * Vectors have unit length. A text without any token (blank, punctuation only) gives null.
 *
 * @throws PalimpsestError `invalid_config` for dimensions out of range.
 */
export function createHashingProvider(options: HashingOptions = {}): EmbeddingProvider {
  const dimensions = options.dimensions ?? DEFAULT_DIMENSIONS;
  if (!Number.isInteger(dimensions) || dimensions < MIN_DIMENSIONS || dimensions > MAX_EMBEDDING_DIMENSIONS) {
    throw new PalimpsestError(
      'invalid_config',
      `The hashing provider can not make ${dimensions} dimensions.`,
      {
        details: [
          {
            path: 'embedding.dimensions',
            got: String(dimensions),
            allowed: `a whole number from ${MIN_DIMENSIONS} to ${MAX_EMBEDDING_DIMENSIONS}`,
          },
        ],
      },
    );
  }
  const featuresOf = cachedFeatures(dimensions);
  return {
    modelId: `hashing-${dimensions}-v${ALGORITHM_VERSION}`,
    dimensions,
    async embed(texts, _purpose, embedOptions) {
      embedOptions?.signal?.throwIfAborted();
      const vectors: (Float32Array | null)[] = [];
      let unpausedLength = 0;
      for (const text of texts) {
        unpausedLength += text.length;
        if (unpausedLength > LENGTH_PER_TURN) {
          await nextTurn();
          embedOptions?.signal?.throwIfAborted();
          unpausedLength = text.length;
        }
        vectors.push(hashedVector(text, dimensions, featuresOf));
      }
      return vectors;
    },
  };
}

/** Characters embedded before other work gets a turn: a few tens of milliseconds. A large batch must not stop a server. */
const LENGTH_PER_TURN = 256 * 1024;

/** A token and the buckets it falls into. */
interface Feature {
  readonly text: string;
  readonly weight: number;
  readonly isStopWord: boolean;
  readonly buckets: readonly Bucket[];
}

interface Bucket {
  readonly index: number;
  readonly sign: 1 | -1;
}

type FeaturesOf = (chunk: string) => readonly Feature[];

function hashedVector(text: string, dimensions: number, featuresOf: FeaturesOf): Float32Array | null {
  const occurrences = countFeatures(chunksOf(text).map(featuresOf));
  if (occurrences.size === 0) return null;
  const signed = sumBuckets(occurrences.values(), dimensions, true);
  // Two words that meet in the same buckets with opposite signs leave nothing. Without signs something
  // always remains, and a text with tokens must have a vector.
  return unitVector(signed) ?? unitVector(sumBuckets(occurrences.values(), dimensions, false));
}

interface Occurrence {
  feature: Feature;
  count: number;
}

/** Features by text. Stop words count only where there is nothing else ("to be or not to be"). */
function countFeatures(chunks: readonly (readonly Feature[])[]): Map<string, Occurrence> {
  const withoutStopWords = new Map<string, Occurrence>();
  for (const chunk of chunks) {
    for (const feature of chunk) if (!feature.isStopWord) countFeature(withoutStopWords, feature);
  }
  if (withoutStopWords.size > 0) return withoutStopWords;
  const all = new Map<string, Occurrence>();
  for (const chunk of chunks) for (const feature of chunk) countFeature(all, feature);
  return all;
}

function countFeature(occurrences: Map<string, Occurrence>, feature: Feature): void {
  const known = occurrences.get(feature.text);
  if (known === undefined) occurrences.set(feature.text, { feature, count: 1 });
  else {
    known.count += 1;
    // `running` and `runs` have one stem and two weights: the larger counts, whatever the order.
    if (feature.weight > known.feature.weight) known.feature = feature;
  }
}

/**
 * Each feature's weight × (1 + ln count). Sub-linear, because the tenth mention says less than the first: on
 * BEAM's long messages MRR is .568 so, .512 with plain counts; on short turns there is no difference.
 */
function sumBuckets(occurrences: Iterable<Occurrence>, dimensions: number, signed: boolean): Float64Array {
  const sums = new Float64Array(dimensions);
  for (const { feature, count } of occurrences) {
    const value = feature.weight * (1 + Math.log(count));
    for (const { index, sign } of feature.buckets)
      sums[index] = (sums[index] ?? 0) + (signed ? sign * value : value);
  }
  return sums;
}

function unitVector(sums: Float64Array): Float32Array | null {
  let squares = 0;
  for (let index = 0; index < sums.length; index += 1) squares += (sums[index] ?? 0) ** 2;
  if (squares === 0) return null;
  const length = Math.sqrt(squares);
  // Not Float32Array.from with a function: that copies through a list, a third of the whole time.
  const vector = new Float32Array(sums.length);
  for (let index = 0; index < vector.length; index += 1) vector[index] = (sums[index] ?? 0) / length;
  return vector;
}

/** Chunks remembered: more than the vocabulary of a large import, about 10 MB. */
const CACHED_CHUNKS = 20_000;

/**
 * Longer chunks are not remembered. They seldom come again; and from 13 characters on V8 keeps a piece of a text as a
 * view of the whole, so that remembering a word would keep a page of 64 KiB alive.
 */
const LONGEST_CACHED_CHUNK = 12;

/** Words repeat, and stemming and hashing one costs ten times a look-up. */
function cachedFeatures(dimensions: number): FeaturesOf {
  const cache = new Map<string, readonly Feature[]>();
  return (chunk) => {
    const known = cache.get(chunk);
    if (known !== undefined) return known;
    const features = featuresOfChunk(chunk, dimensions);
    if (chunk.length <= LONGEST_CACHED_CHUNK) {
      if (cache.size >= CACHED_CHUNKS) cache.clear();
      cache.set(chunk, features);
    }
    return features;
  };
}

function featuresOfChunk(chunk: string, dimensions: number): readonly Feature[] {
  return tokensOfChunk(chunk).map((token) => ({ ...token, buckets: bucketsOf(token.text, dimensions) }));
}

/** Starting values of two independent hashes. */
const FIRST_SEED = 0x811c9dc5;
const SECOND_SEED = 0x1fb6e47c;

/**
 * Two buckets a token, so that a collision of unrelated words costs half as much: recall@10 on LoCoMo's even
 * questions is .416 with one, .422 with two, .425 with three (means of four sets of seeds), and each one more makes
 * stored vectors longer. The two are never the same, where opposite signs would delete the word.
 */
function bucketsOf(token: string, dimensions: number): readonly Bucket[] {
  const first = bucketOf(hash32(token, FIRST_SEED), dimensions);
  const second = bucketOf(hash32(token, SECOND_SEED), dimensions - 1);
  const index = second.index < first.index ? second.index : second.index + 1;
  return [first, { ...second, index }];
}

/** The lower 31 bits choose among `count` buckets, the highest bit the sign. */
function bucketOf(hash: number, count: number): Bucket {
  return { index: (hash & 0x7fffffff) % count, sign: hash >>> 31 === 0 ? 1 : -1 };
}

/**
 * FNV-1a over UTF-16 code units, then the finaliser of MurmurHash3, without which the sign bit and the low bits
 * of short tokens are related.
 *
 * @returns 32 bits, unsigned.
 */
function hash32(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
