import type {
  ContextInput,
  FeedbackInput,
  ListInput,
  NamespacesInput,
  RecallInput,
  RememberInput,
  RememberOptionsInput,
  RunInput,
  UpdateInput,
} from '../contract/inputs.ts';
import type { FeedbackSignal } from '../core/ports.ts';
import type { JsonObject, MemoryDuplicate, MemoryEntry } from '../core/types.ts';

/** A hit, as far as adapters look at one. */
export interface BackendHit {
  readonly entry: MemoryEntry;
  readonly similarity: number | null;
  readonly score: number | null;
  readonly duplicates: readonly MemoryDuplicate[];
}

export interface BackendWrite {
  readonly operation: 'create' | 'refresh';
  readonly entry: MemoryEntry;
}

/** What a run's report came to. */
export interface BackendRun {
  readonly stored: readonly { readonly part: 'input' | 'output'; readonly memoryId: string }[];
  readonly skipped: readonly { readonly part: 'input' | 'output'; readonly reason: string }[];
}

/**
 * What adapters need of a memory. An opened memory of the library, a handle for one user (`memory.as(…)`) and the
 * HTTP client all are one, so that each adapter works in this process and over the network.
 */
export interface MemoryBackend {
  remember(input: RememberInput, options?: RememberOptionsInput): Promise<BackendWrite>;
  rememberMany(
    inputs: readonly RememberInput[],
    options?: RememberOptionsInput,
  ): Promise<readonly BackendWrite[]>;
  recall(input: RecallInput): Promise<{ readonly hits: readonly BackendHit[]; readonly traceId: string }>;
  /** The memory block of a prompt. */
  context(
    input: Omit<ContextInput, 'messages'>,
  ): Promise<{ readonly block: string; readonly traceId: string }>;
  observeRun(input: RunInput): Promise<BackendRun>;
  get(id: string): Promise<MemoryEntry>;
  list(
    input: ListInput,
  ): Promise<{ readonly entries: readonly MemoryEntry[]; readonly nextCursor: string | null }>;
  namespaces(input: NamespacesInput): Promise<{
    readonly namespaces: readonly { readonly path: string; readonly liveCount: number }[];
    readonly nextCursor: string | null;
  }>;
  update(id: string, input: UpdateInput): Promise<MemoryEntry>;
  forget(id: string): Promise<MemoryEntry>;
  feedback(input: FeedbackInput): Promise<{ readonly recorded: boolean; readonly entry: MemoryEntry }>;
}

export type { FeedbackSignal, JsonObject };
