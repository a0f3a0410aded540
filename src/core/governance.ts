import type { Asking, MemoryPolicy, PolicySubject, StoredPolicy } from './policy.ts';
import type { Deferred, FeedbackSignal, ListCursor, ScopePatterns } from './ports.ts';
import type { Access, JsonObject, JsonValue, RankingProfile } from './types.ts';

export type { MemoryPolicy, PolicySubject, StoredPolicy } from './policy.ts';

/**
 * What people decide and may look up afterwards: keys, policies, profiles, consent, the audit and the traces.
 * All of it is data with an audit row; the ports at the end are implemented by `store`.
 */

/** What a key may be used for. `admin` also governs the tenant: keys, rules, policies, profiles, audit. */
export const KEY_SCOPES = ['read', 'write', 'feedback', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** A key that was just made. The secret is shown once and kept nowhere. */
export interface KeySecret {
  /** The whole key, as its holder sends it. */
  readonly secret: string;
  readonly prefix: string;
  /** SHA-256 of the whole key, 64 hex digits. */
  readonly secretHash: string;
}

/** An API key as it is kept: never the secret, only its SHA-256. */
export interface ApiKey {
  readonly id: string;
  readonly tenantId: string;
  /** The user who asks when this key is used. */
  readonly userId: string;
  /** What a person calls it. */
  readonly name: string;
  /** First characters of the key, to recognise it by. */
  readonly prefix: string;
  readonly scopes: readonly KeyScope[];
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
}

/** A key with the digest its secret is compared with. Stays inside the server. */
export interface StoredKey extends ApiKey {
  /** SHA-256 of the whole key, 64 hex digits. */
  readonly secretHash: string;
}

/** A profile an administrator has defined. */
export interface StoredProfile {
  readonly profile: RankingProfile;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A user of the tenant, as far as the server keeps something about them. */
export interface UserSettings {
  readonly userId: string;
  /** The user's own consent that administrators may read the user's private namespaces. Default false. */
  readonly allowAdminMemory: boolean;
}

export const AUDIT_ACTIONS = ['read', 'write', 'delete', 'status', 'feedback', 'warning', 'admin'] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface AuditRecord {
  readonly id: string;
  readonly occurredAt: Date;
  readonly action: AuditAction;
  readonly operation: string | null;
  readonly actorId: string;
  readonly namespace: string | null;
  readonly memoryId: string | null;
  readonly detail: JsonObject;
}

/** A record that is still to be written. `occurredAt`: milliseconds since the epoch. */
export interface NewAuditRecord {
  readonly action: AuditAction;
  readonly operation?: string | null | undefined;
  readonly occurredAt: number;
  readonly namespace?: string | null | undefined;
  readonly memoryId?: string | null | undefined;
  readonly detail: JsonObject;
}

export interface AuditQuery {
  readonly actions?: readonly AuditAction[] | undefined;
  readonly actorId?: string | undefined;
  readonly memoryId?: string | undefined;
  readonly scope?: ScopePatterns | undefined;
  /** Inclusive. */
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
  readonly limit: number;
  /** `createdAt` is the record's `occurredAt`. */
  readonly after: ListCursor | null;
}

/** An access that was refused, to be written down as a `warning`. */
export interface NewRefusal {
  /** Milliseconds since the epoch. */
  readonly occurredAt: number;
  /** What was tried, such as `get`. */
  readonly operation: string;
  /** UUID of the entry that was asked for. Its namespace is looked up; the record says whether there is one. */
  readonly memoryId?: string | null | undefined;
  /** UUID of the trace that was asked for; the record says whether there is one. */
  readonly traceId?: string | null | undefined;
  /** Path or pattern that was named. */
  readonly namespace?: string | null | undefined;
  /** A user who may have allowed it; if so, it was no refusal and nothing is written. */
  readonly unlessConsentOf?: string | null | undefined;
  readonly detail: JsonObject;
}

/** A page of something that is listed newest first. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly next: ListCursor | null;
}

/** A trace to keep: who asked, and how the result came about in wire form. */
export interface NewTrace {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  /** Text of the query; null while browsing. */
  readonly query: string | null;
  readonly trace: JsonObject;
}

/** A trace as it is looked up. */
export interface StoredTrace extends NewTrace {
  /** True for an administrator who reads the trace of a user without that user's `allowAdminMemory`: `query` is null. */
  readonly isQueryHidden: boolean;
}

export interface TraceQuery {
  readonly userId?: string | undefined;
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  readonly limit: number;
  readonly after: ListCursor | null;
}

/** What a namespace holds. */
export interface NamespaceReport {
  readonly path: string;
  readonly ownerId: string | null;
  readonly version: number;
  readonly createdAt: Date;
  /** Last change of anything in it. */
  readonly updatedAt: Date;
  /** Entries a search can find. */
  readonly liveCount: number;
  /** All entries: superseded, expired and deleted ones too. */
  readonly totalCount: number;
  /** UTF-8 bytes of all contents. */
  readonly contentBytes: number;
}

/** How long what can be looked up afterwards is kept. */
export interface Retention {
  /** Days of audit records; null keeps all. */
  readonly auditDays: number | null;
  /** Days of traces; null keeps all. */
  readonly traceDays: number | null;
}

/**
 * Traces are large, and asked about in the days after; who did what is asked about at the year's end. SPEC names no
 * time, and a database that only grows fails some day.
 */
export const DEFAULT_RETENTION: Retention = { auditDays: 365, traceDays: 30 };

/** An answer kept under an `Idempotency-Key`. */
export interface IdempotentAnswer {
  /** SHA-256 of what was asked; the same key with another request is a conflict. */
  readonly requestHash: string;
  readonly status: number;
  readonly body: JsonValue;
}

/** Keys, found before anybody is known: the one look-up that is not under a tenant. */
export interface KeyStore {
  findKeys(prefix: string): Promise<StoredKey[]>;
  /** Notes that a key was used, at most once a minute. */
  touchKey(key: ApiKey, now: number): Promise<void>;
  createKey(access: Access, key: StoredKey): Promise<ApiKey>;
  /** An administrator sees the tenant's keys, everybody else their own. */
  listKeys(access: Access): Promise<ApiKey[]>;
  /** @throws PalimpsestError `not_found` */
  revokeKey(access: Access, id: string, now: number): Promise<ApiKey>;
}

export interface PolicyStore {
  /** Null where there is none. */
  findPolicy(access: Access, subject: PolicySubject): Promise<StoredPolicy | null>;
  listPolicies(access: Access): Promise<StoredPolicy[]>;
  putPolicy(access: Access, subject: PolicySubject, policy: MemoryPolicy, now: number): Promise<StoredPolicy>;
  /** False when there was none. */
  deletePolicy(access: Access, subject: PolicySubject, now: number): Promise<boolean>;
}

export interface ProfileStore {
  findProfile(access: Access, name: string): Promise<StoredProfile | null>;
  listProfiles(access: Access): Promise<StoredProfile[]>;
  putProfile(access: Access, profile: RankingProfile, now: number): Promise<StoredProfile>;
  deleteProfile(access: Access, name: string, now: number): Promise<boolean>;
}

export interface UserStore {
  /** The asker's own settings. */
  userSettings(access: Access): Promise<UserSettings>;
  setAllowAdminMemory(access: Access, allow: boolean, now: number): Promise<UserSettings>;
}

export interface AuditLog {
  /** Writes records of one principal; for events that have no transaction of their own. */
  appendAudit(access: Access, records: readonly NewAuditRecord[]): Promise<void>;
  /** Writes refusals of one principal down as warnings. */
  appendRefusals(access: Access, refusals: readonly NewRefusal[]): Promise<void>;
  /** @throws PalimpsestError `forbidden` for anybody but an administrator. */
  listAudit(access: Access, query: AuditQuery): Promise<Page<AuditRecord>>;
}

export interface TraceStore {
  /** Writes traces of one principal, together with the audit records of those reads. */
  appendTraces(
    access: Access,
    traces: readonly NewTrace[],
    records: readonly NewAuditRecord[],
  ): Promise<void>;
  /** A user sees their own traces, an administrator those of the tenant. Null where there is none to see. */
  findTrace(access: Access, id: string): Promise<StoredTrace | null>;
  listTraces(access: Access, query: TraceQuery): Promise<Page<StoredTrace>>;
  /** Removes what is older. Milliseconds since the epoch; null keeps everything. Counts what went. */
  expireRecords(
    tenantId: string,
    before: { readonly audit: number | null; readonly traces: number | null; readonly idempotency: number },
  ): Promise<{ audit: number; traces: number; idempotency: number }>;
  /** Every tenant there is: for the upkeep above. */
  tenantIds(): Promise<string[]>;
}

export interface IdempotencyStore {
  /**
   * Claims a key for a request. `new`: carry it out and call `keepAnswer`. `answered`: give this answer again.
   * `running`: the first request has not ended. A claim that was never answered lapses after a minute.
   */
  claimIdempotencyKey(
    access: Access,
    key: string,
    requestHash: string,
    now: number,
  ): Promise<{ state: 'new' } | { state: 'running' } | { state: 'answered'; answer: IdempotentAnswer }>;
  keepAnswer(access: Access, key: string, answer: IdempotentAnswer): Promise<void>;
  /** Gives a claim up after a request that failed before it changed anything. */
  releaseIdempotencyKey(access: Access, key: string): Promise<void>;
}

export interface NamespaceReportQuery {
  readonly scope: ScopePatterns;
  readonly now: number;
  readonly limit: number;
  /** Path after which the page starts; null for the first. */
  readonly after: string | null;
}

/** What somebody may read, counted. */
export interface EntryStats {
  readonly namespaceCount: number;
  /** Entries in any part of their lives. */
  readonly totalCount: number;
  /** Entries a search can find. */
  readonly liveCount: number;
  readonly supersededCount: number;
  readonly expiredCount: number;
  readonly deletedCount: number;
  /** Of the live ones. */
  readonly confirmedCount: number;
  /** UTF-8 bytes of all contents. */
  readonly contentBytes: number;
  /** The most frequent types of live entries, at most 50. */
  readonly types: readonly { readonly type: string; readonly liveCount: number }[];
}

export interface EntryStatsQuery {
  readonly scope: ScopePatterns;
  /** Milliseconds since the epoch: what has expired by then. */
  readonly now: number;
}

export interface ReportStore {
  /** Entries the asker may read, counted. */
  countEntries(asking: Asking, query: Deferred<EntryStatsQuery>): Promise<EntryStats>;
  /** Namespaces the asker may read, by path. */
  reportNamespaces(asking: Asking, query: Deferred<NamespaceReportQuery>): Promise<NamespaceReport[]>;
  /**
   * How often each signal was given for an entry, by anybody.
   *
   * @throws PalimpsestError `not_found` for an entry the asker may not read.
   */
  countFeedback(asking: Asking, memoryId: string): Promise<Record<FeedbackSignal, number>>;
}

/** Everything that governs a tenant. */
export interface GovernanceStore
  extends KeyStore,
    PolicyStore,
    ProfileStore,
    UserStore,
    AuditLog,
    TraceStore,
    IdempotencyStore,
    ReportStore {}
