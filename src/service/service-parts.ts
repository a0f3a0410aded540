import type { AuditContext, Clock, EmbeddingService, Store } from '../core/ports.ts';
import type { RankingProfile } from '../core/types.ts';
import type { ModelRegistration } from './model-registration.ts';
import type { RequestContext } from './request-context.ts';

/** What the use cases work with. All of it comes from outside, so that tests bring their own. */
export interface ServiceParts {
  readonly store: Store;
  /** Its providers are wrapped by `checkedProvider`: one sound vector or null per text, or a rejection. */
  readonly embedding: EmbeddingService;
  readonly clock: Clock;
  /** Makes the ids of traces: UUIDv7, lower case. */
  readonly newId: () => string;
  /** Ranking profiles by name. */
  readonly profiles: ReadonlyMap<string, RankingProfile>;
  /** Name of the profile a request gets that names none. */
  readonly defaultProfile: string;
}

/** The parts with what the service keeps between requests. */
export interface ServiceState extends ServiceParts {
  readonly models: ModelRegistration;
}

/** The audit context of a request that is carried out now. */
export function auditOf(parts: ServiceParts, context: RequestContext): AuditContext {
  return { now: parts.clock(), detail: context.detail };
}
