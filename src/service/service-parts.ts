import type { EmbeddingStore } from '../core/embedding-store.ts';
import type { GovernanceStore, KeySecret, Retention } from '../core/governance.ts';
import type { AuditContext, Clock, Store, TokenCounter } from '../core/ports.ts';
import type { Telemetry } from '../core/telemetry.ts';
import type { RankingProfile } from '../core/types.ts';
import type { VectorIndexStore } from '../core/vector-index.ts';
import type { Backfill } from './embeddings/backfill.ts';
import type { ModelCatalog, ModelCatalogParts } from './embeddings/model-catalog.ts';
import type { ModelRoles } from './embeddings/model-roles.ts';
import type { Recorder, RecorderParts } from './recorder.ts';
import { auditDetail, type RequestContext } from './request-context.ts';

/** What the use cases work with. All of it comes from outside, so that tests bring their own. */
export interface ServiceParts extends RecorderParts {
  readonly store: Store;
  readonly governance: GovernanceStore;
  readonly embeddings: EmbeddingStore;
  readonly indexes: VectorIndexStore;
  /** Its providers are wrapped by `checkedProvider`: one sound vector or null per text, or a rejection. */
  readonly models: ModelCatalogParts;
  /** Whether this process fills in missing vectors in the background. Default true. */
  readonly backfills?: boolean | undefined;
  /** Counts what a memory block costs in a prompt. Loaded when it is first asked for. */
  readonly tokenCounter: () => Promise<TokenCounter>;
  readonly clock: Clock;
  /** Makes ids of traces and keys: UUIDv7, lower case. */
  readonly newId: () => string;
  /** Makes API keys. */
  readonly newKey: () => KeySecret;
  /** The built-in ranking profiles by name; nobody can replace them. */
  readonly profiles: ReadonlyMap<string, RankingProfile>;
  /** Name of the profile a request gets where neither it nor its policy names one. */
  readonly defaultProfile: string;
  readonly retention: Retention;
  /** Default: nothing is measured. */
  readonly telemetry?: Telemetry | undefined;
}

/** The parts with what the service keeps between requests. */
export interface ServiceState extends ServiceParts {
  readonly catalog: ModelCatalog;
  readonly roles: ModelRoles;
  readonly backfill: Backfill;
  readonly recorder: Recorder;
  readonly telemetry: Telemetry;
  /** Logs a doubtful cutoff, not at every request. */
  readonly warnOfCutoff: () => void;
}

/** The audit context of a write that is carried out now. */
export function auditOf(parts: Pick<ServiceParts, 'clock'>, context: RequestContext): AuditContext {
  return { now: parts.clock(), detail: auditDetail(context, 'write') };
}
