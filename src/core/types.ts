/**
 * The words of this project, once.
 *
 * - memory entry: one stored content with its namespace, metadata, embedding and times.
 * - namespace: dotted path of segments; pattern: a path with `${…}` or `*`; scope: the namespaces one
 *   request may read.
 * - tenant: customer whose data is kept apart; owner: user a namespace belongs to; principal: who asks.
 * - distance: pgvector's operator value, lower is nearer; similarity: `1 - cosine distance` with negatives
 *   taken as 0, in [0, 1], higher is nearer. Never one name for both.
 * - relevance: value of an entry under a `boosted` profile (can exceed 1); score: value under any profile.
 *   In code the final value is always `score`; faces show it as `relevance` too where the profile is boosted.
 * - candidate: an entry's ranking factors, fetched before ranking.
 * - expire: `expiresAt` passed; forget: soft delete; purge: removal from disk.
 */

/** Any value JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Maturity of an entry. Every entry starts `unconfirmed`. */
export type MemoryStatus = 'unconfirmed' | 'confirmed' | 'superseded';

/** Where an entry came from. `kind`: chat, run, file, tool, import, user or a word of the caller's. */
export interface MemorySource {
  readonly kind: string;
  /** Identifier inside that kind, such as a chat id or a file name. */
  readonly ref?: string | undefined;
}

/**
 * How much of a text its vector stands for. `whole`: all of it, read at once. `chunked`: the text is longer than the
 * model reads, so the vector is the mean of its parts' vectors. `truncated`: its end is not in it.
 */
export type TextCoverage = 'whole' | 'chunked' | 'truncated';

/**
 * Why an entry has no vector under a model. `waiting`: it is still to be made, and the entry is not found until then.
 * `empty`: there is nothing to embed in the text. `refused`: the model refuses it.
 */
export type GapReason = 'waiting' | 'empty' | 'refused';

/** What an entry has under a model: how much of its text the vector stands for, or why there is none. */
export interface EntryEmbedding {
  readonly modelId: string;
  readonly coverage: TextCoverage | GapReason;
}

/** One stored memory, as every face returns it. Times are UTC with millisecond precision. */
export interface MemoryEntry {
  /** UUIDv7, lower case, stable for ever. */
  readonly id: string;
  readonly tenantId: string;
  /** The user the namespace belongs to, read off its path; null when it belongs to the tenant. */
  readonly ownerId: string | null;
  /** User id of the principal who first wrote it. */
  readonly createdBy: string;
  readonly namespace: string;
  /** Free word, default `note`. */
  readonly type: string;
  readonly content: string;
  /** SHA-256, 64 hex digits, of the content's exact UTF-8 bytes. */
  readonly contentHash: string;
  readonly metadata: JsonObject;
  readonly tags: readonly string[];
  readonly source: MemorySource | null;
  /** In [0, 1], exactly the number sent; default 0.5. */
  readonly importance: number;
  readonly status: MemoryStatus;
  readonly confirmedAt: Date | null;
  readonly confirmedBy: string | null;
  readonly supersededBy: string | null;
  readonly supersededAt: Date | null;
  /** When the fact was true or seen. Never read by recency. */
  readonly observedAt: Date | null;
  readonly createdAt: Date;
  /** Last change of content, or last repeated write of the same content. Recency is measured on this. */
  readonly updatedAt: Date;
  readonly expiresAt: Date | null;
  readonly deletedAt: Date | null;
  /** Moved by explicit feedback alone; being retrieved is never an access. */
  readonly accessCount: number;
  readonly validatedAccessCount: number;
  /** Value of the namespace's version when this entry last changed; rises with every change. */
  readonly version: number;
  /**
   * What it has under the model that searches in its namespace use; null where there is no such model. Only where
   * one entry is read by its id.
   */
  readonly embedding?: EntryEmbedding | null | undefined;
}

/** What a caller may say when storing an entry. Identity is never part of it. */
export interface MemoryDraft {
  readonly namespace: string;
  readonly content: string;
  readonly type?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly source?: MemorySource | undefined;
  readonly importance?: number | undefined;
  readonly observedAt?: Date | undefined;
  readonly expiresAt?: Date | undefined;
}

/** A draft that may leave its namespace to the policy of the agent or task it is written for. */
export type UnplacedDraft = Omit<MemoryDraft, 'namespace'> & { readonly namespace?: string | undefined };

/** What an update may change. `undefined` leaves a field alone; `null` clears one that can be empty. */
export interface MemoryPatch {
  readonly content?: string | undefined;
  readonly type?: string | undefined;
  /** Replaces the metadata object whole. */
  readonly metadata?: JsonObject | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly source?: MemorySource | null | undefined;
  readonly importance?: number | undefined;
  readonly observedAt?: Date | null | undefined;
  readonly expiresAt?: Date | null | undefined;
}

/** How a write ended: `create` made a new entry, `refresh` found the same content live and renewed it. */
export interface WriteResult {
  readonly operation: 'create' | 'refresh';
  readonly entry: MemoryEntry;
}

/** Who is asking, established by the face (key, token, local mode), never by the request's body. */
export interface Principal {
  readonly tenantId: string;
  readonly userId: string;
  readonly isAdmin: boolean;
  /**
   * True only for the embedded library and the loopback single-user mode: the asker is the operator of the
   * store and may reach every namespace of the tenant.
   */
  readonly isTenantWide: boolean;
}

/** What a principal may reach in one request. The database enforces it by row-level security. */
export interface Access {
  readonly principal: Principal;
  /** Patterns a policy opens for reading, variables already filled in. Never opens another user's namespaces. */
  readonly readGrants: readonly string[];
  /** Patterns a policy opens for writing, variables already filled in. */
  readonly writeGrants: readonly string[];
}

/** Comparison operators of a metadata filter. */
export type MetadataOperator =
  | 'eq'
  | 'ne'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'in'
  | 'nin'
  | 'exists'
  | 'contains';

/**
 * Condition on `metadata`, two-valued: a missing key never makes a comparison "unknown". `ne` and `nin` are
 * the exact negation of `eq` and `in`, so they hold for entries that lack the key.
 *
 * `path` is read as nested keys; where `flatKey` is set, an entry holding that key at the top level (a key
 * with dots in its name) is read there first.
 */
export type MetadataFilter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly MetadataFilter[] }
  | { readonly kind: 'not'; readonly filter: MetadataFilter }
  | {
      readonly kind: 'compare';
      readonly path: readonly string[];
      readonly flatKey: string | null;
      readonly operator: MetadataOperator;
      readonly value: JsonValue;
    };

/** Narrowing of a search or a list. All given conditions must hold. */
export interface MemoryFilter {
  readonly types?: readonly string[] | undefined;
  readonly tagsAny?: readonly string[] | undefined;
  readonly tagsAll?: readonly string[] | undefined;
  readonly statuses?: readonly MemoryStatus[] | undefined;
  /** Inclusive. Entries without `observedAt` do not match a bounded range. */
  readonly observedFrom?: Date | undefined;
  /** Exclusive. */
  readonly observedUntil?: Date | undefined;
  readonly metadata?: MetadataFilter | undefined;
}

/** One row of `app.vector_namespace_rules`. */
export interface NamespaceRule {
  readonly pattern: string;
  /** In [0, 1]; added to the multiplier of every entry whose namespace the pattern covers. Default 0. */
  readonly bonus: number;
  readonly description: string | null;
  readonly instructionTemplate: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Parameters of the seed formula `similarity × (1 + Σ bonus + recencyDecay / (1 + ageDays))`. */
export interface BoostedProfile {
  readonly kind: 'boosted';
  readonly name: string;
  /** In [0, 1], default 0.05. 0 switches recency off. */
  readonly recencyDecay: number;
  /** Floor on relevance, ≥ 0, default 0.4. 0 lets everything pass. */
  readonly minScore: number;
  /** Floor as a fraction of the best relevance of this result, in [0, 1], default 0.7. 0 disables. */
  readonly relativeCutoff: number;
  /** Default number of hits, 1..200, default 5. */
  readonly topK: number;
}

/** Weights of the `weighted` profile, each in [0, 1]; 0 switches a signal off. */
export interface SignalWeights {
  readonly similarity: number;
  readonly recency: number;
  readonly importance: number;
  readonly frequency: number;
}

/** Parameters of `w₁·similarity + w₂·recency + w₃·importance + w₄·frequency`. */
export interface WeightedProfile {
  readonly kind: 'weighted';
  readonly name: string;
  readonly weights: SignalWeights;
  /** Days after which recency is one half, > 0, default 14. */
  readonly halfLifeDays: number;
  /** Count at which frequency reaches 1, ≥ 1, default 100. */
  readonly frequencySaturation: number;
  /** Which counter frequency reads, default `validated_access_count`. */
  readonly frequencySource: 'validated_access_count' | 'access_count';
  readonly minScore: number;
  readonly relativeCutoff: number;
  readonly topK: number;
}

/** A named set of ranking parameters kept by the server. */
export type RankingProfile = BoostedProfile | WeightedProfile;

/** An entry's ranking factors: all that a formula may read. */
export interface Candidate {
  readonly id: string;
  readonly namespace: string;
  readonly contentHash: string;
  /** In [0, 1]; 0 for a missing, zero or incompatible vector; null when there is no query. */
  readonly similarity: number | null;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly importance: number;
  readonly accessCount: number;
  readonly validatedAccessCount: number;
}

/**
 * Upper bounds of every ranking factor over the entries of a scope that were *not* fetched. With them the
 * core proves that nothing outside the fetched candidates can enter the result.
 */
export interface FactorMaxima {
  readonly similarity: number;
  /** Newest `updatedAt` outside the batch, milliseconds since the epoch. */
  readonly updatedAt: number;
  /** 1 where the source was not asked to bound it. */
  readonly importance: number;
  /** Infinity where the source was not asked to bound it. */
  readonly accessCount: number;
  /** Infinity where the source was not asked to bound it. */
  readonly validatedAccessCount: number;
}

/** The part one signal plays in a score. The contributions of a breakdown add up to the score. */
export interface Factor {
  readonly signal: 'similarity' | 'bonus' | 'recency' | 'importance' | 'frequency';
  /** What was measured: a cosine, a rule's bonus, an age in days, a number in [0, 1], a count. */
  readonly raw: number;
  /** `raw` after the signal's own formula. */
  readonly value: number;
  /** What `value` is multiplied by. */
  readonly weight: number;
  /** `value × weight`. */
  readonly contribution: number;
  /** For a bonus: the pattern of the rule it comes from. */
  readonly pattern?: string | undefined;
}

/** A score and the factors that add up to it, to 1e-9. */
export interface Breakdown {
  readonly score: number;
  readonly factors: readonly Factor[];
}

/** Why a candidate did not become a hit. `token_budget` is set by the context builder. */
export type CutReason = 'min_score' | 'relative_cutoff' | 'duplicate' | 'top_k' | 'token_budget';

/** A candidate with its score, as the trace shows it. */
export interface ScoredCandidate {
  readonly candidate: Candidate;
  /** Null while browsing (no query under a `boosted` profile). */
  readonly score: number | null;
  /** Null while browsing. */
  readonly breakdown: Breakdown | null;
}

/** A candidate that leaves the pipeline as a hit, with the equal contents it stands for. */
export interface RankedHit extends ScoredCandidate {
  readonly duplicates: readonly ScoredCandidate[];
}

/** A candidate that was cut, with the line that cut it. */
export interface CutCandidate extends ScoredCandidate {
  readonly reason: CutReason;
  /** The value it was compared with, where there is one (`min_score`, `relative_cutoff`). */
  readonly threshold: number | null;
  /** For `duplicate`: the candidate of equal content that ranked higher, a hit unless `topK` cut it too. */
  readonly duplicateOf: string | null;
}

/** An entry with the same content as a hit, which therefore takes no place of its own. */
export interface MemoryDuplicate {
  readonly id: string;
  readonly namespace: string;
  /** In [0, 1]; null without a query. */
  readonly similarity: number | null;
  readonly score: number | null;
  /** The score again where the profile is `boosted`, else null. */
  readonly relevance: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly observedAt: Date | null;
  readonly metadata: JsonObject;
}

/** One result of a recall, as every face returns it. */
export interface MemoryHit {
  /** The entry. Where it stands for equal contents, its `metadata.duplicates` lists them. */
  readonly entry: MemoryEntry;
  /** What was measured: cosine similarity to the query in [0, 1]; null without a query. */
  readonly similarity: number | null;
  /** What it is worth under the profile: the value that is ranked on. Null while browsing. */
  readonly score: number | null;
  /** The score under its `boosted` name; it can exceed 1. Null under a `weighted` profile and while browsing. */
  readonly relevance: number | null;
  /** The factors that add up to the score, to 1e-9. Null while browsing. */
  readonly breakdown: Breakdown | null;
  readonly duplicates: readonly MemoryDuplicate[];
}
