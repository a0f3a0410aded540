import type { BoostedProfile, WeightedProfile } from './types.ts';

/** Limits and defaults of the product, each with its reason. Faces and store read them here. */

/** Longest content in UTF-8 bytes. SPEC section 1: 64 KiB, a long page of text. */
export const MAX_CONTENT_BYTES = 64 * 1024;
/** Largest metadata object as JSON text, in bytes: it is provenance, not a second content. */
export const MAX_METADATA_BYTES = 64 * 1024;
/** Deepest nesting of metadata; deeper objects are almost always a mistake and cost parser stack. */
export const MAX_METADATA_DEPTH = 32;
export const MAX_TAGS = 64;
export const MAX_TAG_LENGTH = 128;
export const MAX_TYPE_LENGTH = 64;
export const MAX_SOURCE_LENGTH = 512;
/** SPEC section 3. */
export const MAX_NAMESPACE_SEGMENTS = 16;
export const MAX_SEGMENT_LENGTH = 128;
/** Longest query text in UTF-8 bytes; the same as the longest content, so a stored text can be its own query. */
export const MAX_QUERY_BYTES = MAX_CONTENT_BYTES;
/** Patterns one request may name. */
export const MAX_SCOPE_PATTERNS = 64;
/**
 * Characters, and different ones, that the patterns of one scope may have together. PostgreSQL compiles them
 * into one regular expression: within these limits the worst found takes 0.3 s in PGlite, 64 patterns of full
 * length fail to compile at all, and 64 usual ones take 20 ms.
 */
export const MAX_SCOPE_LENGTH = 8192;
export const MAX_SCOPE_ALPHABET = 256;
/** Conditions one metadata filter may hold, all levels together. */
export const MAX_FILTER_CONDITIONS = 64;
/** Values one `in` or `nin` may list. */
export const MAX_FILTER_VALUES = 256;
/** Entries one batch may hold: keeps a transaction short. */
export const MAX_BATCH_SIZE = 500;

/** Longest vector: pgvector's limit for its type `vector`. */
export const MAX_EMBEDDING_DIMENSIONS = 16_000;

/**
 * Longest pause that an embedding service is granted, in milliseconds: it is tried again after this one however long it
 * asks to be left alone. A wrong clock or a wrong unit would otherwise be an outage of years.
 */
export const MAX_SERVICE_PAUSE_MS = 5 * 60_000;

export const DEFAULT_TYPE = 'note';
/** Middle of the range: an entry whose caller said nothing is neither foundation nor chatter. */
export const DEFAULT_IMPORTANCE = 0.5;

export const MIN_TOP_K = 1;
export const MAX_TOP_K = 200;
/** SPEC section 4. */
export const DEFAULT_TOP_K = 5;

/**
 * Tokens a memory block may take: five entries of a page each, and still a small part of any model's context.
 * SPEC section 6 names none.
 */
export const DEFAULT_TOKEN_BUDGET = 4000;
/** SPEC section 6: the language and the zone that a memory block writes its days in. */
export const DEFAULT_LOCALE = 'en-US';
export const DEFAULT_TIME_ZONE = 'UTC';

/**
 * Shortest input of a run that is stored, in code points without the white space around it: what is shorter is a
 * greeting or a “yes, go on”, and tells nothing without its conversation.
 */
export const MIN_RUN_INPUT_LENGTH = 80;

/** Longest id of an agent, task, chat or session, in code points: such an id may become a namespace's segment. */
export const MAX_SUBJECT_ID_LENGTH = MAX_SEGMENT_LENGTH;

/** Page size of lists. */
export const DEFAULT_PAGE_SIZE = 50;
export const MAX_PAGE_SIZE = 500;

/** From here upwards a relative cutoff removes many legitimate hits; faces warn (Ontheia, section 1.3). */
export const RISKY_RELATIVE_CUTOFF = 0.8;

/** Ontheia's formula with its documented defaults. */
export const BOOSTED_PROFILE: BoostedProfile = {
  kind: 'boosted',
  name: 'boosted',
  recencyDecay: 0.05,
  minScore: 0.4,
  relativeCutoff: 0.7,
  topK: DEFAULT_TOP_K,
};

/** Venkai's formula with its documented defaults. Its scores are floors on metadata, so no threshold. */
export const WEIGHTED_PROFILE: WeightedProfile = {
  kind: 'weighted',
  name: 'weighted',
  weights: { similarity: 0.4, recency: 0.2, importance: 0.25, frequency: 0.15 },
  halfLifeDays: 14,
  frequencySaturation: 100,
  frequencySource: 'validated_access_count',
  minScore: 0,
  relativeCutoff: 0,
  topK: DEFAULT_TOP_K,
};

export const DEFAULT_PROFILE = BOOSTED_PROFILE;
