import { v7 as uuidv7 } from 'uuid';
import { notFound, PalimpsestError } from '../core/errors.ts';
import type {
  ApiKey,
  AuditQuery,
  AuditRecord,
  EntryStats,
  EntryStatsQuery,
  GovernanceStore,
  IdempotentAnswer,
  MemoryPolicy,
  NamespaceReport,
  NamespaceReportQuery,
  NewAuditRecord,
  NewRefusal,
  NewTrace,
  Page,
  PolicySubject,
  StoredKey,
  StoredPolicy,
  StoredProfile,
  StoredTrace,
  TraceQuery,
  UserSettings,
} from '../core/governance.ts';
import type { Asking } from '../core/policy.ts';
import type { Clock, Deferred, FeedbackSignal, ListCursor } from '../core/ports.ts';
import { systemAccess } from '../core/system-access.ts';
import type { Access, JsonObject, RankingProfile } from '../core/types.ts';
import { countFeedback } from './operations/feedback.ts';
import { isEntryId } from './operations/locked-entry.ts';
import { insertAudit } from './queries/audit.ts';
import { type AuditRow, selectAudit, toAuditRecord } from './queries/governance/audit-log.ts';
import {
  type EntryStatsRow,
  selectEntryStats,
  selectTypeCounts,
  type TypeCountRow,
  toEntryStats,
} from './queries/governance/entry-stats.ts';
import {
  claimKey,
  deleteClaim,
  type IdempotencyRow,
  selectClaim,
  updateAnswer,
} from './queries/governance/idempotency.ts';
import {
  insertKey,
  type KeyRow,
  revokeKey,
  type StoredKeyRow,
  selectKeys,
  selectKeysByPrefix,
  toKey,
  toStoredKey,
  touchKey,
} from './queries/governance/keys.ts';
import {
  type NamespaceReportRow,
  selectNamespaceReport,
  toNamespaceReport,
} from './queries/governance/namespace-report.ts';
import {
  deletePolicy,
  type PolicyRow,
  selectPolicies,
  selectPolicy,
  toPolicy,
  upsertPolicy,
} from './queries/governance/policies.ts';
import {
  deleteProfile,
  type ProfileRow,
  selectProfile,
  selectProfiles,
  toProfile,
  upsertProfile,
} from './queries/governance/profiles.ts';
import { insertRefusals } from './queries/governance/refusals.ts';
import {
  insertTraces,
  selectTrace,
  selectTraces,
  type TraceRow,
  toStoredTrace,
} from './queries/governance/traces.ts';
import {
  expireAudit,
  expireIdempotencyKeys,
  expireTraces,
  selectTenantIds,
} from './queries/governance/upkeep.ts';
import { selectUser, upsertConsent } from './queries/governance/users.ts';
import { insertTenant } from './queries/namespaces.ts';
import { type RequestDatabase, settled } from './request-database.ts';
import type { SqlStatement, SqlTransaction } from './sql-database.ts';

/** Keys, policies, profiles, consent, audit, traces and idempotent answers on any Postgres. */
export class SqlGovernanceStore implements GovernanceStore {
  private readonly database: RequestDatabase;
  private readonly clock: Clock;

  constructor(database: RequestDatabase, clock: Clock) {
    this.database = database;
    this.clock = clock;
  }

  findKeys(prefix: string): Promise<StoredKey[]> {
    return this.database.as('palimpsest_auth', systemAccess('unknown'), async (tx) =>
      (await tx.query<StoredKeyRow>(selectKeysByPrefix(prefix))).map(toStoredKey),
    );
  }

  async touchKey(key: ApiKey, now: number): Promise<void> {
    await this.database.as('palimpsest_auth', systemAccess(key.tenantId), (tx) =>
      tx.query(touchKey(key, now)),
    );
  }

  createKey(access: Access, key: StoredKey): Promise<ApiKey> {
    return this.governing(access, 'create_key', key.createdAt.getTime(), async (tx) => {
      const row = await one<KeyRow>(tx, insertKey(key));
      const detail = { key_id: key.id, user_id: key.userId, name: key.name, scopes: [...key.scopes] };
      return { result: toKey(row), detail };
    });
  }

  listKeys(access: Access): Promise<ApiKey[]> {
    return this.database.reading(access, async (tx) =>
      (await tx.query<KeyRow>(selectKeys(access.principal.tenantId))).map(toKey),
    );
  }

  revokeKey(access: Access, id: string, now: number): Promise<ApiKey> {
    return this.recorded(access, 'revoke_key', now, async (tx) => {
      if (!isEntryId(id)) throw notFound('key', id);
      const [row] = await tx.query<KeyRow>(revokeKey(access.principal.tenantId, id, now));
      if (row === undefined) throw notFound('key', id);
      return { result: toKey(row), detail: { key_id: row.key_id, user_id: row.user_id } };
    });
  }

  findPolicy(access: Access, subject: PolicySubject): Promise<StoredPolicy | null> {
    return this.database.reading(access, async (tx) => {
      const [row] = await tx.query<PolicyRow>(selectPolicy(access.principal.tenantId, subject));
      return row === undefined ? null : toPolicy(row);
    });
  }

  listPolicies(access: Access): Promise<StoredPolicy[]> {
    return this.database.reading(access, async (tx) =>
      (await tx.query<PolicyRow>(selectPolicies(access.principal.tenantId))).map(toPolicy),
    );
  }

  putPolicy(
    access: Access,
    subject: PolicySubject,
    policy: MemoryPolicy,
    now: number,
  ): Promise<StoredPolicy> {
    return this.governing(access, 'put_policy', now, async (tx) => {
      const row = await one<PolicyRow>(tx, upsertPolicy(access.principal.tenantId, subject, policy, now));
      const { created_at, updated_at, tenant_id, ...detail } = row;
      return { result: toPolicy(row), detail: detail as JsonObject };
    });
  }

  deletePolicy(access: Access, subject: PolicySubject, now: number): Promise<boolean> {
    return this.deleting(access, 'delete_policy', now, deletePolicy(access.principal.tenantId, subject), {
      subject_kind: subject.kind,
      subject_id: subject.id,
    });
  }

  findProfile(access: Access, name: string): Promise<StoredProfile | null> {
    return this.database.reading(access, async (tx) => {
      const [row] = await tx.query<ProfileRow>(selectProfile(access.principal.tenantId, name));
      return row === undefined ? null : toProfile(row);
    });
  }

  listProfiles(access: Access): Promise<StoredProfile[]> {
    return this.database.reading(access, async (tx) =>
      (await tx.query<ProfileRow>(selectProfiles(access.principal.tenantId))).map(toProfile),
    );
  }

  putProfile(access: Access, profile: RankingProfile, now: number): Promise<StoredProfile> {
    return this.governing(access, 'put_profile', now, async (tx) => {
      const row = await one<ProfileRow>(tx, upsertProfile(access.principal.tenantId, profile, now));
      const { name, kind, parameters } = row;
      return { result: toProfile(row), detail: { name, kind, parameters: { ...parameters } as JsonObject } };
    });
  }

  deleteProfile(access: Access, name: string, now: number): Promise<boolean> {
    const statement = deleteProfile(access.principal.tenantId, name);
    return this.deleting(access, 'delete_profile', now, statement, { name });
  }

  userSettings(access: Access): Promise<UserSettings> {
    const { tenantId, userId } = access.principal;
    return this.database.reading(access, async (tx) => {
      const [row] = await tx.query<{ allow_admin_memory: boolean }>(selectUser(tenantId, userId));
      return { userId, allowAdminMemory: row?.allow_admin_memory ?? false };
    });
  }

  setAllowAdminMemory(access: Access, allow: boolean, now: number): Promise<UserSettings> {
    const { tenantId, userId } = access.principal;
    return this.recorded(access, 'set_allow_admin_memory', now, async (tx) => {
      await tx.query(upsertConsent(tenantId, userId, allow, now));
      return {
        result: { userId, allowAdminMemory: allow },
        detail: { user_id: userId, allow_admin_memory: allow },
      };
    });
  }

  async appendAudit(access: Access, records: readonly NewAuditRecord[]): Promise<void> {
    if (records.length === 0) return;
    await this.database.writing(access, async (tx) => {
      await ensureTenant(tx, access, this.clock());
      await appendRecords(tx, access, records);
    });
  }

  async appendRefusals(access: Access, refusals: readonly NewRefusal[]): Promise<void> {
    if (refusals.length === 0) return;
    const { tenantId, userId } = access.principal;
    const events = refusals.map((refusal) => ({
      auditId: uuidv7({ msecs: refusal.occurredAt }),
      occurredAt: refusal.occurredAt,
      operation: refusal.operation,
      memoryId: refusal.memoryId ?? null,
      traceId: refusal.traceId ?? null,
      namespace: refusal.namespace ?? null,
      unlessConsentOf: refusal.unlessConsentOf ?? null,
      detail: refusal.detail,
    }));
    await this.database.as('palimpsest_refusals', access, async (tx) => {
      await ensureTenant(tx, access, this.clock());
      await tx.query(insertRefusals(tenantId, userId, events));
    });
  }

  async listAudit(access: Access, query: AuditQuery): Promise<Page<AuditRecord>> {
    requireGovernor(access, 'read the audit');
    return this.database.reading(access, async (tx) => {
      const rows = await tx.query<AuditRow>(
        selectAudit(access.principal.tenantId, { ...query, limit: query.limit + 1 }),
      );
      return pageOf(rows, query.limit, toAuditRecord, (row) => ({
        createdAt: row.occurred_at,
        id: row.audit_id,
      }));
    });
  }

  async appendTraces(
    access: Access,
    traces: readonly NewTrace[],
    records: readonly NewAuditRecord[],
  ): Promise<void> {
    if (traces.length === 0 && records.length === 0) return;
    const { tenantId, userId } = access.principal;
    await this.database.writing(access, async (tx) => {
      await ensureTenant(tx, access, this.clock());
      if (traces.length > 0) await tx.query(insertTraces(tenantId, userId, traces));
      if (records.length > 0) await appendRecords(tx, access, records);
    });
  }

  findTrace(access: Access, id: string): Promise<StoredTrace | null> {
    if (!isEntryId(id)) return Promise.resolve(null);
    return this.database.reading(access, async (tx) => {
      const [row] = await tx.query<TraceRow>(selectTrace(access.principal.tenantId, id));
      return row === undefined ? null : toStoredTrace(row);
    });
  }

  listTraces(access: Access, query: TraceQuery): Promise<Page<StoredTrace>> {
    return this.database.reading(access, async (tx) => {
      const rows = await tx.query<TraceRow>(
        selectTraces(access.principal.tenantId, { ...query, limit: query.limit + 1 }),
      );
      return pageOf(rows, query.limit, toStoredTrace, (row) => ({
        createdAt: row.created_at,
        id: row.trace_id,
      }));
    });
  }

  expireRecords(
    tenantId: string,
    before: { readonly audit: number | null; readonly traces: number | null; readonly idempotency: number },
  ): Promise<{ audit: number; traces: number; idempotency: number }> {
    return this.database.as('palimpsest_upkeep', systemAccess(tenantId), async (tx) => {
      const count = async (statement: SqlStatement) => (await one<{ count: number }>(tx, statement)).count;
      return {
        audit: before.audit === null ? 0 : await count(expireAudit(tenantId, before.audit)),
        traces: before.traces === null ? 0 : await count(expireTraces(tenantId, before.traces)),
        idempotency: await count(expireIdempotencyKeys(tenantId, before.idempotency)),
      };
    });
  }

  tenantIds(): Promise<string[]> {
    return this.database.as('palimpsest_upkeep', systemAccess('unknown'), async (tx) =>
      (await tx.query<{ tenant_id: string }>(selectTenantIds())).map(({ tenant_id }) => tenant_id),
    );
  }

  claimIdempotencyKey(
    access: Access,
    key: string,
    requestHash: string,
    now: number,
  ): Promise<{ state: 'new' } | { state: 'running' } | { state: 'answered'; answer: IdempotentAnswer }> {
    const { tenantId, userId } = access.principal;
    return this.database.writing(access, async (tx) => {
      await ensureTenant(tx, access, now);
      const [claimed] = await tx.query(claimKey(tenantId, userId, key, requestHash, now));
      if (claimed !== undefined) return { state: 'new' };
      const claim = await one<IdempotencyRow>(tx, selectClaim(tenantId, userId, key));
      if (claim.status === null && claim.request_hash === requestHash) return { state: 'running' };
      const answer = { requestHash: claim.request_hash, status: claim.status ?? 0, body: claim.body };
      return { state: 'answered', answer };
    });
  }

  async keepAnswer(access: Access, key: string, answer: IdempotentAnswer): Promise<void> {
    const { tenantId, userId } = access.principal;
    await this.database.writing(access, (tx) => tx.query(updateAnswer(tenantId, userId, key, answer)));
  }

  async releaseIdempotencyKey(access: Access, key: string): Promise<void> {
    const { tenantId, userId } = access.principal;
    await this.database.writing(access, (tx) => tx.query(deleteClaim(tenantId, userId, key)));
  }

  reportNamespaces(asking: Asking, query: Deferred<NamespaceReportQuery>): Promise<NamespaceReport[]> {
    return this.database.reading(asking, async (tx) =>
      (
        await tx.query<NamespaceReportRow>(selectNamespaceReport(asking.principal.tenantId, settled(query)))
      ).map(toNamespaceReport),
    );
  }

  countEntries(asking: Asking, query: Deferred<EntryStatsQuery>): Promise<EntryStats> {
    const { tenantId } = asking.principal;
    return this.database.reading(asking, async (tx) => {
      const wanted = settled(query);
      const row = await one<EntryStatsRow>(tx, selectEntryStats(tenantId, wanted));
      return toEntryStats(row, await tx.query<TypeCountRow>(selectTypeCounts(tenantId, wanted)));
    });
  }

  countFeedback(asking: Asking, memoryId: string): Promise<Record<FeedbackSignal, number>> {
    return this.database.as('palimpsest_feedback', asking, (tx, access) =>
      countFeedback(tx, access, memoryId),
    );
  }

  /** A change of what governs the tenant, with its audit record, in one transaction. */
  private async governing<T>(
    access: Access,
    operation: string,
    now: number,
    change: (tx: SqlTransaction) => Promise<{ result: T; detail: JsonObject | null }>,
  ): Promise<T> {
    requireGovernor(access, `change this (${operation})`);
    return this.recorded(access, operation, now, change);
  }

  private recorded<T>(
    access: Access,
    operation: string,
    now: number,
    change: (tx: SqlTransaction) => Promise<{ result: T; detail: JsonObject | null }>,
  ): Promise<T> {
    return this.database.writing(access, async (tx) => {
      await ensureTenant(tx, access, now);
      const { result, detail } = await change(tx);
      if (detail !== null) {
        await appendRecords(tx, access, [{ action: 'admin', operation, occurredAt: now, detail }]);
      }
      return result;
    });
  }

  private deleting(
    access: Access,
    operation: string,
    now: number,
    statement: SqlStatement,
    detail: JsonObject,
  ): Promise<boolean> {
    return this.governing(access, operation, now, async (tx) => {
      const wasThere = (await tx.query(statement)).length > 0;
      return { result: wasThere, detail: wasThere ? detail : null };
    });
  }
}

/** The database refuses it too; here the refusal can say what it is about. */
function requireGovernor({ principal }: Access, intent: string): void {
  if (principal.isAdmin || principal.isTenantWide) return;
  throw new PalimpsestError('forbidden', `Only an administrator may ${intent}.`, {
    details: [{ got: principal.userId, hint: 'Use a key with the scope "admin".' }],
  });
}

async function ensureTenant(tx: SqlTransaction, access: Access, now: number): Promise<void> {
  await tx.query(insertTenant(access.principal.tenantId, now));
}

async function appendRecords(
  tx: SqlTransaction,
  { principal }: Access,
  records: readonly NewAuditRecord[],
): Promise<void> {
  const byTime = Map.groupBy(records, ({ occurredAt }) => occurredAt);
  for (const [occurredAt, sameTime] of byTime) {
    const events = sameTime.map((record, place) => ({
      auditId: uuidv7({ msecs: occurredAt, seq: place }),
      action: record.action,
      operation: record.operation ?? null,
      namespace: record.namespace ?? null,
      memoryId: record.memoryId ?? null,
      detail: record.detail,
    }));
    await tx.query(insertAudit(principal.tenantId, principal.userId, events, occurredAt));
  }
}

async function one<Row extends Record<string, unknown>>(
  tx: SqlTransaction,
  statement: SqlStatement,
): Promise<Row> {
  const [row] = await tx.query<Row>(statement);
  if (row === undefined) throw new Error('The database did not return the row it was asked for.');
  return row;
}

/** One row more than asked for tells whether there is a next page. */
function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  cursorOf: (row: Row) => ListCursor,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const isLastPage = rows.length <= limit || last === undefined;
  return { items: shown.map(toItem), next: isLastPage ? null : cursorOf(last) };
}
