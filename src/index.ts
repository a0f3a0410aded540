import { openMemoryService } from './app.ts';
import type { EmbeddingChoice } from './embedding/open-models.ts';
import { locationOf, type OpenOptions as OpenOptionsOf } from './library/open-options.ts';
import { OpenedMemory } from './library/opened-memory.ts';

/** How to open a memory. `embedding` takes a configuration of providers and modes, or a provider of one's own. */
export type OpenOptions = OpenOptionsOf<EmbeddingChoice>;

/**
 * Memory for AI agents, opened in this process.
 *
 * @example
 * const memory = await Palimpsest.open({ dataDir: './memories' });
 * await memory.remember({ namespace: 'vector.user.ada.notes', content: 'Ada prefers tea over coffee.' });
 * const { hits } = await memory.recall({ query: 'Tea or coffee?' });
 * await memory.close();
 */
export class Palimpsest extends OpenedMemory {
  /**
   * Opens a memory in a folder, in a PostgreSQL, or (with neither) in this process' memory alone. Reads nothing
   * from the environment.
   *
   * @throws PalimpsestError `store_locked` while another process uses the folder, `store_unavailable`,
   *   `store_newer`, `invalid_input`
   */
  static async open(options: OpenOptions = {}): Promise<Palimpsest> {
    const location = locationOf(options);
    const { embedding = {}, tokenizer, clock, onBackgroundError } = options;
    return new Palimpsest(
      await openMemoryService({ location, embedding, tokenizer, clock, onBackgroundError }),
    );
  }
}

export type {
  ContextInput,
  ExportInput,
  FeedbackInput,
  FilterInput,
  InstantInput,
  JsonObjectInput,
  ListInput,
  ModelChangeInput,
  NamespacesInput,
  RecallInput,
  RememberInput,
  RememberOptionsInput,
  RollbackInput,
  RuleInput,
  RunInput,
  SubjectInput,
  SuccessorInput,
  SwitchInput,
  UpdateInput,
  UpdateOptionsInput,
  VerifyInput,
} from './contract/inputs.ts';
export type { NamespacePage } from './contract/namespace-report.ts';
export type { ChatMessage } from './core/context/messages.ts';
export type { EmbeddingAssignment, EmbeddingRole, KnownModel } from './core/embedding-state.ts';
export type {
  ChangeVerification,
  CoverageCounts,
  EmbeddingJob,
  EmbeddingJobKind,
  EmbeddingJobStatus,
  JobProgress,
} from './core/embedding-store.ts';
export { type ErrorCode, type ErrorDetail, PalimpsestError } from './core/errors.ts';
export type { NamespaceReport } from './core/governance.ts';
export type {
  Clock,
  EmbeddingMode,
  EmbeddingProvider,
  EmbeddingPurpose,
  FeedbackResult,
  FeedbackSignal,
  HistoryChain,
  Lifecycle,
  StoreHealth,
  TokenCounter,
} from './core/ports.ts';
export type { Certificate } from './core/ranking/certificate.ts';
export type { RankingParameters } from './core/ranking/parameters.ts';
export type { RecallTrace, TracedRules } from './core/ranking/trace.ts';
export type {
  BoostedProfile,
  Breakdown,
  Candidate,
  CutCandidate,
  CutReason,
  Factor,
  JsonObject,
  JsonValue,
  MemoryDuplicate,
  MemoryEntry,
  MemoryHit,
  MemorySource,
  MemoryStatus,
  NamespaceRule,
  RankedHit,
  RankingProfile,
  ScoredCandidate,
  SignalWeights,
  WeightedProfile,
  WriteResult,
} from './core/types.ts';
export type { EmbeddingConfig } from './embedding/modes.ts';
export type { EmbeddingProviderConfig } from './embedding/provider-config.ts';
export type { ActAsInput } from './library/act-as-input.ts';
export type { ConfiguredChangeInput, ModelChanges, RunChangeOptions } from './library/model-changes.ts';
export type { ContextOutput, ListOutput, RecallOutput, RuleBook, UserMemory } from './library/user-memory.ts';
export type { ImportProgress } from './service/import-entries.ts';
export type { RunResult } from './service/observe-run.ts';
export type { EmbeddingStatus, JobState } from './service/reembed-service.ts';
export type { SupersedeResult } from './service/supersede-entry.ts';
