import type {
  ApiKey,
  AuditQuery,
  AuditRecord,
  KeyScope,
  MemoryPolicy,
  NamespaceReport,
  Page,
  PolicySubject,
  StoredPolicy,
  StoredTrace,
  TraceQuery,
  UserSettings,
} from '../core/governance.ts';
import type { FeedbackSignal, ScopePatterns } from '../core/ports.ts';
import type { JsonValue, RankedHit, RankingProfile } from '../core/types.ts';
import type { RequestContext } from './request-context.ts';

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

/** Something that works and is probably not meant. */
export interface Warning {
  readonly code: 'risky_relative_cutoff';
  readonly message: string;
}

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

export interface UpkeepResult {
  readonly audit: number;
  readonly traces: number;
  readonly idempotency: number;
}

export type AuditRequest = Partial<AuditQuery>;
export type TraceRequest = Partial<TraceQuery>;

export interface NamespaceReportRequest {
  readonly scope?: ScopePatterns | undefined;
  /** 1..500, default 50. */
  readonly limit?: number | undefined;
  /** Path after which the page starts. */
  readonly after?: string | null | undefined;
}

/**
 * What people decide, and what can be looked up afterwards. Refusals are `PalimpsestError`s: `forbidden` for
 * whoever may not govern, `not_found`, `conflict`, `invalid_input`.
 */
export interface GovernanceService {
  /** Administrators only. */
  createKey(context: RequestContext, draft: KeyDraft): Promise<NewKey>;
  /** An administrator sees the tenant's keys, everybody else their own. */
  listKeys(context: RequestContext): Promise<ApiKey[]>;
  /** An administrator revokes any key of the tenant, everybody else their own. */
  revokeKey(context: RequestContext, id: string): Promise<ApiKey>;

  /** @throws PalimpsestError `not_found` */
  getPolicy(context: RequestContext, subject: PolicySubject): Promise<StoredPolicy>;
  listPolicies(context: RequestContext): Promise<StoredPolicy[]>;
  putPolicy(
    context: RequestContext,
    subject: PolicySubject,
    policy: PolicyDraft,
  ): Promise<Kept<StoredPolicy>>;
  deletePolicy(context: RequestContext, subject: PolicySubject): Promise<void>;

  /** The built-in profiles first. */
  listProfiles(context: RequestContext): Promise<ProfileView[]>;
  getProfile(context: RequestContext, name: string): Promise<ProfileView>;
  putProfile(context: RequestContext, profile: RankingProfile): Promise<Kept<ProfileView>>;
  deleteProfile(context: RequestContext, name: string): Promise<void>;

  /** The asker's own settings. */
  userSettings(context: RequestContext): Promise<UserSettings>;
  setAllowAdminMemory(context: RequestContext, allow: boolean): Promise<UserSettings>;

  previewRule(context: RequestContext, request: RulePreviewRequest): Promise<RulePreview>;
  reportNamespaces(context: RequestContext, request?: NamespaceReportRequest): Promise<NamespaceReport[]>;
  /** How often each signal was given for an entry the asker may read. */
  feedbackSummary(context: RequestContext, memoryId: string): Promise<Record<FeedbackSignal, number>>;

  listAudit(context: RequestContext, request?: AuditRequest): Promise<Page<AuditRecord>>;
  exportAudit(context: RequestContext, request?: AuditRequest): AsyncGenerator<AuditRecord>;
  /** @throws PalimpsestError `not_found` alike for an unknown trace and for somebody else's */
  getTrace(context: RequestContext, id: string): Promise<StoredTrace>;
  listTraces(context: RequestContext, request?: TraceRequest): Promise<Page<StoredTrace>>;
  exportTraces(context: RequestContext, request?: TraceRequest): AsyncGenerator<StoredTrace>;

  /**
   * Carries a request out once per key. The same key with the same request gives the same answer again.
   *
   * @param requestHash - SHA-256 of everything that makes the request another one: method, path and body.
   * @throws PalimpsestError `conflict` for the same key with another request, and, with `retryAfterSeconds`,
   *   while the first request is still running
   */
  withIdempotency(
    context: RequestContext,
    key: string,
    requestHash: string,
    work: () => Promise<KeptAnswer>,
  ): Promise<KeptAnswer & { readonly isReplay: boolean }>;

  /** Leaves an audit `warning` in the background. */
  recordRefusal(context: RequestContext, refusal: Refusal): void;
  /** Removes what retention lets go, in every tenant. */
  runUpkeep(): Promise<UpkeepResult>;
}
