import type { ContextInput, InstantInput, RecallInput } from '../contract/inputs.ts';
import type { AuditAction, KeyScope } from '../core/governance.ts';
import type { MemoryPolicy } from '../core/policy.ts';
import type { BoostedProfile, WeightedProfile } from '../core/types.ts';

/** What the client's methods take beyond what the library's take. Every object may be frozen. */

export interface ClientRecallInput extends RecallInput {
  /** Whether to answer the trace too. Default false. */
  readonly explain?: boolean | undefined;
}

export interface ClientContextInput extends ContextInput {
  /** Whether to answer the messages too, with the block at the end of the last user message. Default false. */
  readonly returnMessages?: boolean | undefined;
  /** Whether to answer the trace too. Default false. */
  readonly explain?: boolean | undefined;
}

interface PageInput {
  /** Items per page, 1..500, default 50. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

interface TimeRangeInput {
  /** Inclusive. */
  readonly from?: InstantInput | undefined;
  /** Exclusive. */
  readonly until?: InstantInput | undefined;
}

interface ScopeInput {
  /** Paths (that namespace alone) or patterns (`p.*` is all below p). Default: everything readable. */
  readonly namespace?: string | readonly string[] | undefined;
}

export type { NamespacesInput } from '../contract/inputs.ts';
export type StatsInput = ScopeInput;

export interface AuditFilterInput extends TimeRangeInput, ScopeInput {
  readonly action?: AuditAction | readonly AuditAction[] | undefined;
  /** The user who did it. */
  readonly actorId?: string | undefined;
  readonly memoryId?: string | undefined;
}
export type AuditInput = AuditFilterInput & PageInput;

export interface TraceFilterInput extends TimeRangeInput {
  /** The user who searched. Others than oneself: administrators. */
  readonly userId?: string | undefined;
}
export type TracesInput = TraceFilterInput & PageInput;

export interface RulePreviewInput {
  readonly pattern: string;
  /** In [0, 1], default 0. */
  readonly bonus?: number | undefined;
  /** Without it nothing is ranked. */
  readonly query?: string | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly profile?: string | undefined;
  readonly topK?: number | undefined;
}

type Optional<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

/** What is left out is as in the built-in profile of the same kind. */
export type ProfileInput =
  | ({ readonly kind: 'boosted' } & Optional<Omit<BoostedProfile, 'kind' | 'name'>>)
  | ({ readonly kind: 'weighted' } & Optional<Omit<WeightedProfile, 'kind' | 'name'>>);

/** What is left out is empty, false or unset. */
export type PolicyInput = Optional<MemoryPolicy>;

export interface KeyInput {
  /** The user who asks when this key is used: one segment of a namespace. */
  readonly userId: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** Default: never. */
  readonly expiresAt?: InstantInput | null | undefined;
}

export interface ImportOptions {
  /** For entries that name none. */
  readonly namespace?: string | undefined;
  /** Called after each request, with what was stored so far. */
  readonly onProgress?: ((progress: ImportTotals) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ImportTotals {
  readonly stored: number;
  readonly created: number;
  readonly refreshed: number;
}
