import type { ApiKey, AuditQuery, KeyScope, MemoryPolicy, TraceQuery } from '../../core/governance.ts';
import type { ScopePatterns } from '../../core/ports.ts';
import type { JsonValue, RankedHit, RankingProfile } from '../../core/types.ts';
import type { Warning } from '../warning.ts';

/** What the use cases of governance take and give. */

/** What an administrator says about a new key. */
export interface KeyDraft {
  /** The user who asks when this key is used: one namespace segment. */
  readonly userId: string;
  /** What a person calls it, 1..128 characters. */
  readonly name: string;
  /** At least one. */
  readonly scopes: readonly KeyScope[];
  /** Default: never. Not in the past. */
  readonly expiresAt?: Date | undefined;
}

/** A key that was just made. `secret` is shown this once. */
export interface NewKey {
  readonly key: ApiKey;
  readonly secret: string;
}

/** What may be said of a policy; what is left out is empty, false or unset. */
export type PolicyDraft = { readonly [Field in keyof MemoryPolicy]?: MemoryPolicy[Field] | undefined };

/** What was kept, and what is doubtful about it. */
export interface Kept<Value> {
  readonly value: Value;
  readonly warnings: readonly Warning[];
}

/** A profile a request may name. The times are null for the two that are built in. */
export interface ProfileView {
  readonly profile: RankingProfile;
  readonly isBuiltIn: boolean;
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
}

export interface RulePreviewRequest {
  readonly pattern: string;
  /** In [0, 1], default 0. */
  readonly bonus?: number | undefined;
  /** Without it nothing is ranked. */
  readonly query?: string | undefined;
  /** What the query searches. Default: everything the asker may read. */
  readonly namespaces?: ScopePatterns | undefined;
  readonly profile?: string | undefined;
  readonly topK?: number | undefined;
}

/** What a rule would do if it were saved now. */
export interface RulePreview {
  /** Namespaces the rule covers, of those the asker may read, by path; the first 100. */
  readonly namespaces: readonly { readonly path: string; readonly liveCount: number }[];
  readonly namespaceCount: number;
  /** Entries in them that a search can find. */
  readonly entryCount: number;
  /** The query's hits without and with the rule; null where no query was given. */
  readonly ranking: { readonly before: readonly RankedHit[]; readonly after: readonly RankedHit[] } | null;
}

/** An answer under an idempotency key. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: JsonValue;
}

/** An access that was refused where no use case saw it, such as a route that takes another kind of key. */
export interface Refusal {
  /** What was tried, such as `get` or `PUT /v1/rules`. */
  readonly operation: string;
  readonly reason: string;
  readonly memoryId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly namespaces?: readonly string[] | undefined;
}

/** What may be left out or undefined. */
type Optional<Query> = { readonly [Field in keyof Query]?: Query[Field] | undefined };

export type AuditRequest = Optional<AuditQuery>;
export type TraceRequest = Optional<TraceQuery>;

export interface StatsRequest {
  readonly scope?: ScopePatterns | undefined;
}

export interface NamespaceReportRequest {
  readonly scope?: ScopePatterns | undefined;
  /** 1..500, default 50. */
  readonly limit?: number | undefined;
  /** Path after which the page starts. */
  readonly after?: string | null | undefined;
}
