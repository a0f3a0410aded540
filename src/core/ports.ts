import type { EmbeddingState } from './embedding-state.ts';
import type { Asking } from './policy.ts';
import type {
  Access,
  Candidate,
  EntryEmbedding,
  FactorMaxima,
  JsonObject,
  MemoryDraft,
  MemoryEntry,
  MemoryFilter,
  MemoryPatch,
  MemorySource,
  NamespaceRule,
  RankingProfile,
  TextCoverage,
  WriteResult,
} from './types.ts';

export type { TextCoverage } from './types.ts';

/** The interfaces the core and the service speak to the outside by. `store` and `embedding` implement them. */

/** Tells the time in milliseconds since the epoch. Tests pass their own. */
export type Clock = () => number;

/** What is embedded: a stored text or a question about stored texts. Some models want different prefixes. */
export type EmbeddingPurpose = 'document' | 'query';

export interface EmbedOptions {
  /** Gives the call up: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Told the place, from 0, of each text that is not embedded whole. */
  readonly onPartial?: ((item: number, coverage: Exclude<TextCoverage, 'whole'>) => void) | undefined;
}

/** Makes vectors. One provider is one model: vectors of two models are never compared. */
export interface EmbeddingProvider {
  /** Stable name of the model with everything that changes its vectors, such as `hashing-512-v1`. */
  readonly modelId: string;
  /** Length of every vector. */
  readonly dimensions: number;
  /**
   * One result per text, in order. `null` says the text has nothing to embed (no token): it is stored and
   * listed, and its similarity is 0. Rejects with `embedding_failed`; never returns fewer or broken vectors.
   */
  embed(
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    options?: EmbedOptions,
  ): Promise<(Float32Array | null)[]>;
  /** Frees workers and connections. Calls under way are rejected. */
  close?(): Promise<void>;
}

/** Counts what a text costs in a prompt. */
export interface TokenCounter {
  /** Name of the tokenizer, such as `o200k_base`. */
  readonly name: string;
  /** Tokens of the text, an integer of at least 0. Never too few, never an error, whatever the text holds. */
  count(text: string): number;
}

/** A text's vector under one model, or null where the model found nothing to embed. */
export interface Embedding {
  readonly modelId: string;
  readonly vector: Float32Array | null;
  /** Default `whole`. */
  readonly coverage?: TextCoverage | undefined;
}

/** Where vectors come from: from nowhere, from this machine, from a service, or from a service with a stand-in. */
export type EmbeddingMode = 'disabled' | 'local' | 'cloud' | 'hybrid';

/** What is embedded of a draft or an entry; both have these fields. */
export interface EmbeddableDocument {
  readonly content: string;
  readonly type?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly source?: MemorySource | null | undefined;
}

/** A model that vectors are kept under. `fallback`: answers a query only where the primary did not. */
export interface EmbeddingModel {
  readonly modelId: string;
  readonly dimensions: number;
  readonly role: 'primary' | 'fallback';
}

export interface EmbeddedDocument {
  /** One per model that answered; at least one, unless the mode is `disabled`. */
  readonly embeddings: readonly Embedding[];
  /** Ids of the models that did not answer, to be asked again in the background (`embedUnder`). */
  readonly missing: readonly string[];
}

export interface EmbeddedQuery extends Embedding {
  /** Id of the primary model, where the fallback answered in its place; else null. */
  readonly insteadOf: string | null;
}

/**
 * Embeddings as the use cases need them: which models a text is kept under, and which one answers a query. A
 * query's vector is to be compared with vectors of its own `modelId` only.
 *
 * Every method rejects with `embedding_failed` where no model could answer, or with the reason of an aborted signal.
 */
export interface EmbeddingService {
  readonly mode: EmbeddingMode;
  /** The primary model first; none where the mode is `disabled`. */
  readonly models: readonly EmbeddingModel[];
  /** Fields that `textOf` puts before the content; none: the content alone is embedded. */
  readonly documentFields: readonly string[];
  /** The text that stands for a document in every vector of this service. */
  textOf(document: EmbeddableDocument): string;
  /** One result per document, in order. */
  embedDocuments(
    documents: readonly EmbeddableDocument[],
    options?: Pick<EmbedOptions, 'signal'>,
  ): Promise<EmbeddedDocument[]>;
  /** Null where the mode is `disabled`: answer by words, and say `degraded`. */
  embedQuery(query: string, options?: Pick<EmbedOptions, 'signal'>): Promise<EmbeddedQuery | null>;
  /** One embedding per document under this one model, whatever its role: fills what `missing` named. */
  embedUnder(
    modelId: string,
    documents: readonly EmbeddableDocument[],
    options?: Pick<EmbedOptions, 'signal'>,
  ): Promise<Embedding[]>;
  /** Frees workers and connections. Calls under way are rejected. */
  close(): Promise<void>;
}

/** A draft that is ready to store: hashed and embedded. */
export interface PreparedDraft {
  readonly draft: MemoryDraft;
  readonly contentHash: string;
  /**
   * Under every model that answered. Where one that the entry is kept under is not among them, its vector is filled
   * in later.
   */
  readonly embeddings: readonly Embedding[];
}

/** A patch that is ready to store. `content` carries its hash and embeddings. */
export interface PreparedPatch {
  readonly patch: MemoryPatch;
  readonly contentHash?: string | undefined;
  readonly embeddings?: readonly Embedding[] | undefined;
}

/** Conditions under which drafts are stored. */
export interface WriteOptions {
  /**
   * Refuses the whole batch with `precondition_failed` where a live entry holds one of its texts already, or two
   * drafts of a namespace hold the same one. Default false: it is refreshed.
   */
  readonly ifNew?: boolean | undefined;
}

export interface BatchWriteOptions extends WriteOptions {
  /** Whether a refusal names the draft at fault by its place. Default false: there is but one. */
  readonly namesItems?: boolean | undefined;
}

/** Facts about the request a write belongs to, kept in its audit row. */
export interface AuditContext {
  /** Milliseconds since the epoch; every time the write sets is this one. */
  readonly now: number;
  /** Free detail such as `tool_call`, `auto_context`, `trace_id`. */
  readonly detail?: JsonObject | undefined;
  /** Set for an import: its writes are recorded as `import`, with what they did in the detail. */
  readonly isImport?: boolean | undefined;
}

/** Which namespaces a request names: patterns of SPEC section 3. `null` is everything the asker may read. */
export type ScopePatterns = readonly string[] | null;

/** A namespace the asker may read, and the version of its content. */
export interface NamespaceState {
  readonly path: string;
  /** Rises in the same transaction as any change that can alter a ranking. */
  readonly version: number;
}

/** A factor that only some formulas read, so that its maximum is found only for those. */
export type BoundFactor = 'importance' | 'accessCount' | 'validatedAccessCount';

/** What a candidate source is asked for. */
export interface CandidateQuery {
  /** Concrete namespaces, all of them readable by the asker. */
  readonly namespaces: readonly string[];
  readonly filter: MemoryFilter;
  /** Null for a query without tokens: every similarity is 0. Absent while there is no query, and with `words`. */
  readonly query?: { readonly modelId: string; readonly vector: Float32Array | null } | undefined;
  /** The text of a query that no model can measure: similarity is the share of its words that an entry holds. */
  readonly words?: string | undefined;
  /** Milliseconds since the epoch; entries expired by then are left out. */
  readonly now: number;
  /** How many candidates to fetch at least, best similarity first (newest first without a query). */
  readonly limit: number;
  /** Factors, beside similarity and time, whose maxima the ranking needs (`factorsToBound`). */
  readonly bound: readonly BoundFactor[];
  /** Restricts the answer to these contents: used to find the equal contents of a hit. */
  readonly contentHashes?: readonly string[] | undefined;
}

/** What a candidate source answers. */
export interface CandidateBatch {
  readonly candidates: readonly Candidate[];
  /** Bounds over what was not fetched; null when nothing was left out. */
  readonly rest: FactorMaxima | null;
  /** How candidates were found: named in the trace. */
  readonly index: 'exact_scan' | 'word_scan' | 'hnsw' | 'resident';
  /** False when the source itself may have missed candidates and `rest` does not bound them. */
  readonly bounded: boolean;
}

/**
 * Proposes candidates; the core decides order, cut-off and trace. The SQL store answers by an exact scan;
 * a resident index can stand behind the same method.
 */
export interface CandidateSource {
  candidates(query: CandidateQuery): Promise<CandidateBatch>;
}

/** One consistent look at the store under one access. Every method sees the same state. */
export interface ReadView extends CandidateSource {
  /** Namespaces of the scope that the asker may read, by path. */
  namespaces(scope: ScopePatterns): Promise<NamespaceState[]>;
  rules(): Promise<NamespaceRule[]>;
  /** The profile an administrator keeps under this name, or null. */
  profile(name: string): Promise<RankingProfile | null>;
  /** Which models search and keep, in this very state. */
  embeddingState(): Promise<EmbeddingState>;
  /** Entries of these namespaces that wait for their vector under a model; not counted beyond 1,000. */
  waitingEntries(modelId: string, namespaces: readonly string[]): Promise<number>;
  /** What an entry has under each model; nothing for an id the asker may not read. */
  entryEmbeddings(id: string): Promise<EntryEmbedding[]>;
  /** Entries by id, any life-cycle state, in the order asked; unknown and unreadable ids are left out. */
  entries(ids: readonly string[]): Promise<MemoryEntry[]>;
}

/** Which part of an entry's life a list shows. `live` is what a search can find. */
export type Lifecycle = 'live' | 'superseded' | 'expired' | 'deleted' | 'any';

/** Place in a list after which the next page starts. */
export interface ListCursor {
  readonly createdAt: Date;
  readonly id: string;
}

export interface ListQuery {
  readonly scope: ScopePatterns;
  readonly filter: MemoryFilter;
  readonly lifecycle: Lifecycle;
  /** Words that must all occur in the content, any case. */
  readonly text?: string | undefined;
  readonly limit: number;
  readonly after: ListCursor | null;
  readonly now: number;
}

export interface ListPage {
  /** Newest first by `createdAt`, then by id. */
  readonly entries: readonly MemoryEntry[];
  /** Null on the last page. */
  readonly next: ListCursor | null;
}

/** An explicit statement about a hit. `accessed` and `useful` move counters, the others are only recorded. */
export type FeedbackSignal = 'accessed' | 'useful' | 'not_useful' | 'wrong';

export interface Feedback {
  readonly memoryId: string;
  readonly signal: FeedbackSignal;
  /** The trace that showed the entry. A signal counts once per (trace, entry, signal). */
  readonly traceId: string;
}

export interface FeedbackResult {
  /** False when this signal had been given before. */
  readonly recorded: boolean;
  readonly entry: MemoryEntry;
}

/** A value, or a function that gives it once the policies of the asker have been read. */
export type Deferred<Value extends object> = Value | (() => Value);

/** The new side of a supersession: a draft to write, or an entry that exists. */
export type Successor = { readonly draft: PreparedDraft } | { readonly id: string };

/** How an id stands in its chain of supersession, oldest first. `missing` names purged successors. */
export interface HistoryChain {
  readonly entries: readonly MemoryEntry[];
  readonly missing: readonly string[];
}

/** Stores memory entries. Every method is one transaction under row-level security. */
export interface MemoryStore {
  /** Runs `work` on one consistent state, read only. */
  read<T>(asking: Asking, work: (view: ReadView) => Promise<T>): Promise<T>;
  /** All or nothing; results in the order of the drafts. */
  write(
    asking: Asking,
    drafts: Deferred<readonly PreparedDraft[]>,
    audit: AuditContext,
    options?: BatchWriteOptions,
  ): Promise<WriteResult[]>;
  update(
    asking: Asking,
    id: string,
    patch: PreparedPatch,
    audit: AuditContext,
    options?: { readonly ifVersion?: number | undefined },
  ): Promise<MemoryEntry>;
  confirm(asking: Asking, id: string, audit: AuditContext): Promise<MemoryEntry>;
  unconfirm(asking: Asking, id: string, audit: AuditContext): Promise<MemoryEntry>;
  supersede(
    asking: Asking,
    oldId: string,
    successor: Deferred<Successor>,
    audit: AuditContext,
  ): Promise<{ superseded: MemoryEntry; successor: MemoryEntry }>;
  forget(asking: Asking, id: string, audit: AuditContext): Promise<MemoryEntry>;
  restore(asking: Asking, id: string, audit: AuditContext): Promise<MemoryEntry>;
  purge(asking: Asking, id: string, audit: AuditContext): Promise<void>;
  history(asking: Asking, id: string): Promise<HistoryChain>;
  list(asking: Asking, query: Deferred<ListQuery>): Promise<ListPage>;
  feedback(asking: Asking, feedback: Feedback, audit: AuditContext): Promise<FeedbackResult>;
}

/** What an administrator decides about a pattern. */
export interface NamespaceRuleDraft {
  readonly pattern: string;
  readonly bonus: number;
  readonly description?: string | null | undefined;
  readonly instructionTemplate?: string | null | undefined;
}

export interface RuleStore {
  listRules(access: Access): Promise<NamespaceRule[]>;
  /** Creates the rule of this pattern, or replaces it. */
  putRule(access: Access, rule: NamespaceRuleDraft, audit: AuditContext): Promise<NamespaceRule>;
  /** False when there was no such rule. */
  deleteRule(access: Access, pattern: string, audit: AuditContext): Promise<boolean>;
}

/** State of the database, for health checks and `doctor`. */
export interface StoreHealth {
  readonly backend: 'pglite' | 'postgres';
  readonly serverVersion: string;
  readonly vectorVersion: string | null;
  /** Number of the newest applied migration. */
  readonly schemaVersion: number;
  /** Role requests run under, and whether it could bypass row-level security (it must not). */
  readonly role: string;
  readonly roleBypassesRls: boolean;
  /** Milliseconds the database's clock is ahead of ours. */
  readonly clockOffsetMs: number;
}

/** Connections of a process to its database. */
export interface ConnectionCounts {
  readonly open: number;
  readonly idle: number;
  /** Transactions that wait for a connection. */
  readonly waiting: number;
  /** How many there may be. */
  readonly most: number;
}

/** What takes room in the database, whoever owns what is in it. */
export interface StoreSizes {
  readonly tables: readonly {
    readonly table: string;
    /** By the database's statistics; null where it has none yet. */
    readonly estimatedRows: number | null;
    /** Without the indexes. */
    readonly bytes: number;
  }[];
  readonly indexes: readonly { readonly table: string; readonly index: string; readonly bytes: number }[];
}

/** A whole store: everything the service needs, and its life. */
export interface Store extends MemoryStore, RuleStore {
  /** Makes the models known before vectors are stored under them. Refuses other dimensions for a known model. */
  registerModel(tenantId: string, model: { modelId: string; dimensions: number }): Promise<void>;
  health(): Promise<StoreHealth>;
  sizes(): Promise<StoreSizes>;
  connections(): ConnectionCounts;
  close(): Promise<void>;
}
