import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../core/defaults.ts';
import { notFound } from '../../core/errors.ts';
import type { AuditRecord, EntryStats, NamespaceReport, Page, StoredTrace } from '../../core/governance.ts';
import type { FeedbackSignal, ListCursor } from '../../core/ports.ts';
import type { JsonObject } from '../../core/types.ts';
import { knownId } from '../entry-id.ts';
import { noteOthersRead, noteOutOfReach } from '../note-read.ts';
import { auditDetail, type RequestContext } from '../request-context.ts';
import { requestPolicy } from '../request-policy.ts';
import type { ServiceState } from '../service-parts.ts';
import type { AuditRequest, NamespaceReportRequest, StatsRequest, TraceRequest } from './model.ts';

/** What can be looked up afterwards. What still waits to be written is written first, so that nothing is missed. */

export async function listAudit(
  { governance, recorder }: ServiceState,
  { access }: RequestContext,
  request: AuditRequest = {},
): Promise<Page<AuditRecord>> {
  await recorder.flush();
  return governance.listAudit(access, { limit: DEFAULT_PAGE_SIZE, after: null, ...given(request) });
}

export function exportAudit(
  state: ServiceState,
  context: RequestContext,
  request: AuditRequest = {},
): AsyncGenerator<AuditRecord> {
  return allPages((page) => listAudit(state, context, { ...request, ...page }));
}

/**
 * A trace of one's own, or to an administrator any of the tenant. One of another user is looked at on the record.
 *
 * @throws PalimpsestError `not_found`
 */
export async function getTrace(
  { governance, recorder, clock }: ServiceState,
  context: RequestContext,
  id: string,
): Promise<StoredTrace> {
  const known = knownId('trace', id);
  const { access } = context;
  const find = () => governance.findTrace(access, known);
  let trace = await find();
  if (trace === null) {
    await recorder.flush();
    trace = await find();
  }
  if (trace === null) throw notFound('trace', known);
  await auditForeignTraces(governance, context, 'get_trace', [trace], clock());
  return withQuery(trace);
}

export async function listTraces(
  { governance, recorder, clock }: ServiceState,
  context: RequestContext,
  request: TraceRequest = {},
): Promise<Page<StoredTrace>> {
  await recorder.flush();
  const page = await governance.listTraces(context.access, {
    limit: DEFAULT_PAGE_SIZE,
    after: null,
    ...given(request),
  });
  await auditForeignTraces(governance, context, 'list_traces', page.items, clock());
  return { items: page.items.map(withQuery), next: page.next };
}

export function exportTraces(
  state: ServiceState,
  context: RequestContext,
  request: TraceRequest = {},
): AsyncGenerator<StoredTrace> {
  return allPages((page) => listTraces(state, context, { ...request, ...page }));
}

export async function reportNamespaces(
  state: ServiceState,
  context: RequestContext,
  request: NamespaceReportRequest = {},
): Promise<NamespaceReport[]> {
  const { asking, applied } = requestPolicy(context, 'read');
  const { scope = null, limit = DEFAULT_PAGE_SIZE, after = null } = request;
  const reports = await state.governance.reportNamespaces(asking, () => ({
    scope: scope ?? applied().defaultScope,
    now: state.clock(),
    limit,
    after,
  }));
  noteOutOfReach(state, context, { operation: 'report_namespaces', access: applied().access, scope });
  await noteOthersRead(state, context, {
    operation: 'report_namespaces',
    namespaces: async () => reports.map(({ path }) => path),
  });
  return reports;
}

export async function countEntries(
  state: ServiceState,
  context: RequestContext,
  { scope = null }: StatsRequest = {},
): Promise<EntryStats> {
  const { asking, applied } = requestPolicy(context, 'read');
  const counted = () => scope ?? applied().defaultScope;
  const stats = await state.governance.countEntries(asking, () => ({ scope: counted(), now: state.clock() }));
  noteOutOfReach(state, context, { operation: 'stats', access: applied().access, scope });
  await noteOthersRead(state, context, {
    operation: 'stats',
    namespaces: () =>
      state.store.read(asking, async (view) => (await view.namespaces(counted())).map(({ path }) => path)),
  });
  return stats;
}

/** How often each signal was given for an entry. */
export async function summarizeFeedback(
  state: ServiceState,
  context: RequestContext,
  id: string,
): Promise<Record<FeedbackSignal, number>> {
  const memoryId = knownId('memory', id);
  const { asking } = requestPolicy(context, 'read');
  const counts = await state.governance.countFeedback(asking, memoryId);
  await noteOthersRead(state, context, {
    operation: 'feedback_summary',
    memoryId,
    namespaces: () =>
      state.store.read(asking, async (view) =>
        (await view.entries([memoryId])).map(({ namespace }) => namespace),
      ),
  });
  return counts;
}

/** The query stands where the trace had it when it was answered. */
function withQuery(stored: StoredTrace): StoredTrace {
  return { ...stored, trace: { ...stored.trace, query: stored.query } };
}

async function auditForeignTraces(
  governance: ServiceState['governance'],
  context: RequestContext,
  operation: string,
  traces: readonly StoredTrace[],
  now: number,
): Promise<void> {
  const { principal } = context.access;
  if (principal.isTenantWide) return;
  const foreign = traces.filter(({ userId }) => userId !== principal.userId);
  if (foreign.length === 0) return;
  const detail: JsonObject = {
    ...auditDetail(context, 'read'),
    admin_actor_id: principal.userId,
    owner_ids: [...new Set(foreign.map(({ userId }) => userId))].sort(),
    ...(foreign.length === 1 && foreign[0] !== undefined
      ? { trace_id: foreign[0].id }
      : { trace_count: foreign.length }),
  };
  await governance.appendAudit(context.access, [{ action: 'read', operation, occurredAt: now, detail }]);
}

async function* allPages<Item>(
  pageAfter: (page: { readonly limit: number; readonly after: ListCursor | null }) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let after: ListCursor | null = null;
  do {
    const page: Page<Item> = await pageAfter({ limit: MAX_PAGE_SIZE, after });
    yield* page.items;
    after = page.next;
  } while (after !== null);
}

/** The fields that are not undefined, so that they don't undo a default. */
function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]: Exclude<Fields[Name], undefined>;
  };
}
