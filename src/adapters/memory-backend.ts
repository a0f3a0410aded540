import type {
  ContextInput,
  FeedbackInput,
  ListInput,
  NamespacesInput,
  RecallInput,
  RememberInput,
  RememberOptionsInput,
  RunInput,
  SuccessorInput,
  UpdateInput,
} from '../contract/inputs.ts';
import type { MemoryDuplicate, MemoryEntry } from '../core/types.ts';

/** A hit, as far as adapters look at one. */
export interface BackendHit {
  readonly entry: MemoryEntry;
  readonly similarity: number | null;
  readonly score: number | null;
  readonly relevance: number | null;
  readonly duplicates: readonly MemoryDuplicate[];
}

export interface BackendWrite {
  readonly operation: 'create' | 'refresh';
  readonly entry: MemoryEntry;
}

/** What an agent's tools need of a memory. */
export interface ToolMemory {
  recall(input: RecallInput): Promise<{
    readonly hits: readonly BackendHit[];
    readonly traceId: string;
    readonly profile: string;
    readonly exact: boolean;
  }>;
  remember(input: RememberInput, options?: RememberOptionsInput): Promise<BackendWrite>;
  supersede(
    oldId: string,
    successor: SuccessorInput,
  ): Promise<{ readonly superseded: MemoryEntry; readonly successor: MemoryEntry }>;
  update(id: string, input: UpdateInput): Promise<MemoryEntry>;
  forget(id: string): Promise<MemoryEntry>;
  feedback(input: FeedbackInput): Promise<{ readonly recorded: boolean; readonly entry: MemoryEntry }>;
}

/** What a prompt's memory block and a finished run need of a memory. */
export interface PromptMemory {
  context(input: Omit<ContextInput, 'messages'>): Promise<{ readonly block: string }>;
  /** Where nothing may be stored it says so in `skipped` and does not fail. */
  observeRun(
    input: RunInput,
  ): Promise<{ readonly stored: readonly object[]; readonly skipped: readonly object[] }>;
}

/**
 * What adapters need of a memory. An opened memory of the library, a handle for one user (`memory.as(…)`) and the
 * HTTP client all are one, so that each adapter works in this process and over the network.
 */
export interface MemoryBackend extends ToolMemory, PromptMemory {
  rememberMany(
    inputs: readonly RememberInput[],
    options?: RememberOptionsInput,
  ): Promise<readonly BackendWrite[]>;
  get(id: string): Promise<MemoryEntry>;
  list(
    input: ListInput,
  ): Promise<{ readonly entries: readonly MemoryEntry[]; readonly nextCursor: string | null }>;
  namespaces(input: NamespacesInput): Promise<{
    readonly namespaces: readonly { readonly path: string; readonly liveCount: number }[];
    readonly nextCursor: string | null;
  }>;
  /** The same for what an agent's tools ask. */
  forTools(): ToolMemory;
}
