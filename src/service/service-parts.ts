import type { GovernanceStore, KeySecret } from '../core/governance.ts';
import type { AuditContext, Clock, EmbeddingService, Store, TokenCounter } from '../core/ports.ts';
import type { RankingProfile } from '../core/types.ts';
import type { ModelRegistration } from './model-registration.ts';
import type { Recorder, RecorderParts } from './recorder.ts';
import { auditDetail, type RequestContext } from './request-context.ts';
import type { Retention } from './upkeep.ts';

/** What the use cases work with. All of it comes from outside, so that tests bring their own. */
export interface ServiceParts extends RecorderParts {
  readonly store: Store;
  readonly governance: GovernanceStore;
  /** Its providers are wrapped by `checkedProvider`: one sound vector or null per text, or a rejection. */
  readonly embedding: EmbeddingService;
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
}

/** The parts with what the service keeps between requests. */
export interface ServiceState extends ServiceParts {
  readonly models: ModelRegistration;
  readonly recorder: Recorder;
  /** Logs a doubtful cutoff, not at every request. */
  readonly warnOfCutoff: () => void;
}

/** The audit context of a write that is carried out now. */
export function auditOf(parts: Pick<ServiceParts, 'clock'>, context: RequestContext): AuditContext {
  return { now: parts.clock(), detail: auditDetail(context, 'write') };
}
