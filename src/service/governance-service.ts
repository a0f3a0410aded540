import type {
  ApiKey,
  AuditRecord,
  EntryStats,
  NamespaceReport,
  Page,
  PolicySubject,
  StoredPolicy,
  StoredTrace,
  UserSettings,
} from '../core/governance.ts';
import type { FeedbackSignal } from '../core/ports.ts';
import type { RankingProfile } from '../core/types.ts';
import { knownId } from './entry-id.ts';
import { withIdempotency } from './governance/idempotency.ts';
import { createKey } from './governance/keys.ts';
import {
  countEntries,
  exportAudit,
  exportTraces,
  getTrace,
  listAudit,
  listTraces,
  reportNamespaces,
  summarizeFeedback,
} from './governance/look-up.ts';
import type {
  AuditRequest,
  Kept,
  KeptAnswer,
  KeyDraft,
  NamespaceReportRequest,
  NewKey,
  PolicyDraft,
  ProfileView,
  Refusal,
  RulePreview,
  RulePreviewRequest,
  StatsRequest,
  TraceRequest,
} from './governance/model.ts';
import { deletePolicy, getPolicy, putPolicy } from './governance/policies.ts';
import { deleteProfile, getProfile, listProfiles, putProfile } from './governance/profiles.ts';
import { recordRefusal } from './governance/record-refusal.ts';
import { previewRule } from './governance/rule-preview.ts';
import { type GuardedCall, guarded, guardedStream } from './guard.ts';
import type { RequestContext } from './request-context.ts';
import type { ServiceState } from './service-parts.ts';
import { runUpkeep, type UpkeepResult } from './upkeep.ts';

export type {
  AuditRequest,
  Kept,
  KeptAnswer,
  KeyDraft,
  NamespaceReportRequest,
  NewKey,
  PolicyDraft,
  ProfileView,
  Refusal,
  RulePreview,
  RulePreviewRequest,
  StatsRequest,
  TraceRequest,
} from './governance/model.ts';
export type { UpkeepResult } from './upkeep.ts';
export type { Warning } from './warning.ts';

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

  /** Administrators only, with a credential that reads, too. */
  previewRule(context: RequestContext, request: RulePreviewRequest): Promise<RulePreview>;
  reportNamespaces(context: RequestContext, request?: NamespaceReportRequest): Promise<NamespaceReport[]>;
  /** What the asker may read of a scope, counted. Default: what the policy reads, else everything. */
  stats(context: RequestContext, request?: StatsRequest): Promise<EntryStats>;
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

export function createGovernanceService(state: ServiceState): GovernanceService {
  const { governance } = state;
  const call = <T>(context: RequestContext, about: GuardedCall, work: () => Promise<T>) =>
    guarded(state, context, about, work);
  const read = <T>(context: RequestContext, operation: string, work: () => Promise<T>) =>
    call(context, { operation, scope: 'read' }, work);
  const govern = <T>(context: RequestContext, operation: string, work: () => Promise<T>) =>
    call(context, { operation, scope: 'admin' }, work);
  return {
    createKey: (context, draft) => govern(context, 'create_key', () => createKey(state, context, draft)),
    // Whoever holds a key may see and revoke their own, whatever it is good for.
    listKeys: (context) =>
      call(context, { operation: 'list_keys', scope: null }, () => governance.listKeys(context.access)),
    revokeKey: (context, id) =>
      call(context, { operation: 'revoke_key', scope: null, keyId: id }, async () =>
        governance.revokeKey(context.access, knownId('key', id), state.clock()),
      ),

    getPolicy: (context, subject) => read(context, 'get_policy', () => getPolicy(state, context, subject)),
    listPolicies: (context) => read(context, 'list_policies', () => governance.listPolicies(context.access)),
    putPolicy: (context, subject, draft) =>
      govern(context, 'put_policy', () => putPolicy(state, context, subject, draft)),
    deletePolicy: (context, subject) =>
      govern(context, 'delete_policy', () => deletePolicy(state, context, subject)),

    listProfiles: (context) => read(context, 'list_profiles', () => listProfiles(state, context)),
    getProfile: (context, name) => read(context, 'get_profile', () => getProfile(state, context, name)),
    putProfile: (context, profile) =>
      govern(context, 'put_profile', () => putProfile(state, context, profile)),
    deleteProfile: (context, name) =>
      govern(context, 'delete_profile', () => deleteProfile(state, context, name)),

    userSettings: (context) => read(context, 'user_settings', () => governance.userSettings(context.access)),
    setAllowAdminMemory: (context, allow) =>
      call(context, { operation: 'set_allow_admin_memory', scope: 'write' }, () =>
        governance.setAllowAdminMemory(context.access, allow, state.clock()),
      ),

    // It ranks memories, which the scope of whoever governs does not read.
    previewRule: (context, request) =>
      call(context, { operation: 'preview_rule', scope: ['admin', 'read'] }, () =>
        previewRule(state, context, request),
      ),
    reportNamespaces: (context, request) =>
      read(context, 'report_namespaces', () => reportNamespaces(state, context, request)),
    stats: (context, request) => read(context, 'stats', () => countEntries(state, context, request)),
    feedbackSummary: (context, memoryId) =>
      call(context, { operation: 'feedback_summary', scope: 'read', memoryIds: [memoryId] }, () =>
        summarizeFeedback(state, context, memoryId),
      ),

    listAudit: (context, request) => govern(context, 'list_audit', () => listAudit(state, context, request)),
    exportAudit: (context, request) =>
      guardedStream(state, context, { operation: 'export_audit', scope: 'admin' }, () =>
        exportAudit(state, context, request),
      ),
    getTrace: (context, id) =>
      call(context, { operation: 'get_trace', scope: 'read', traceId: id }, () =>
        getTrace(state, context, id),
      ),
    listTraces: (context, request) => read(context, 'list_traces', () => listTraces(state, context, request)),
    exportTraces: (context, request) =>
      guardedStream(state, context, { operation: 'export_traces', scope: 'read' }, () =>
        exportTraces(state, context, request),
      ),

    withIdempotency: (context, key, requestHash, work) =>
      withIdempotency(state, context, { key, requestHash }, work),
    recordRefusal: (context, refusal) => recordRefusal(state, context, refusal),
    runUpkeep: () => runUpkeep(state),
  };
}
