import { v7 as uuidv7 } from 'uuid';
import {
  type EmbeddingAssignment,
  embeddingPlan,
  isWithin,
  type KnownModel,
  scopesWithin,
  WHOLE_STORE,
} from '../../core/embedding-state.ts';
import type { ConfiguredModel, EmbeddingJob, NewJob } from '../../core/embedding-store.ts';
import { conflict, notFound } from '../../core/errors.ts';
import { scopeRegexSource } from '../../core/namespace.ts';
import type { AuditContext } from '../../core/ports.ts';
import type { Access } from '../../core/types.ts';
import {
  insertJob,
  type JobRow,
  type JobScope,
  lockJob,
  selectJob,
  selectJobs,
  toJob,
  updateJobStatus,
} from '../queries/embedding/jobs.ts';
import {
  type AssignmentRow,
  deleteAssignment,
  selectAssignments,
  selectHasEntries,
  selectModel,
  toAssignment,
  upsertAssignment,
  upsertModel,
} from '../queries/embedding/state.ts';
import { deleteWaiting } from '../queries/embedding/work.ts';
import { insertTenant } from '../queries/namespaces.ts';
import type { SqlTransaction } from '../sql-database.ts';
import { requireDimensions } from './embedding-state.ts';
import { isEntryId } from './locked-entry.ts';
import { recordDecision } from './record-audit.ts';

/**
 * Decisions about models. Each runs under the lock that keeps writes out (`lockModels`), so that a write belongs
 * to the time before or to the time after.
 */

export async function readAssignments(tx: SqlTransaction, tenantId: string): Promise<EmbeddingAssignment[]> {
  return (await tx.query<AssignmentRow>(selectAssignments(tenantId))).map(toAssignment);
}

/** Gives configured models the roles that nobody has decided about. */
export async function adoptModels(
  tx: SqlTransaction,
  access: Access,
  models: readonly ConfiguredModel[],
  audit: AuditContext,
): Promise<void> {
  const { tenantId } = access.principal;
  await tx.query(insertTenant(tenantId, audit.now));
  for (const model of models) {
    await tx.query(upsertModel(tenantId, model, audit.now));
    await requireDimensions(tx, tenantId, model);
  }
  const primary = models.find(({ role }) => role === 'primary');
  const fallback = models.find(({ role }) => role === 'fallback');
  const hasEntries = await readHasEntries(tx, tenantId);
  if (primary !== undefined) await adoptPrimary(tx, access, primary, hasEntries, audit);
  if (primary !== undefined && fallback !== undefined) {
    await adoptFallback(tx, access, primary, fallback, hasEntries, audit);
  }
}

async function adoptPrimary(
  tx: SqlTransaction,
  access: Access,
  { modelId }: ConfiguredModel,
  hasEntries: boolean,
  audit: AuditContext,
): Promise<void> {
  const { tenantId } = access.principal;
  const lines = await readAssignments(tx, tenantId);
  if (ownLine(lines, 'active', WHOLE_STORE) !== undefined) return;
  if (!hasEntries) {
    await tx.query(upsertAssignment(tenantId, { role: 'active', scope: WHOLE_STORE, modelId }, audit.now));
    return;
  }
  if ((await openChange(tx, tenantId)) !== undefined) return;
  // The entries have no vectors at all: until they have, searches compare words.
  await startJob(
    tx,
    access,
    { kind: 'change', scope: WHOLE_STORE, modelId, switchesItself: true, purgesOld: false },
    audit,
  );
}

async function adoptFallback(
  tx: SqlTransaction,
  access: Access,
  primary: ConfiguredModel,
  { modelId }: ConfiguredModel,
  hasEntries: boolean,
  audit: AuditContext,
): Promise<void> {
  const { tenantId } = access.principal;
  const lines = await readAssignments(tx, tenantId);
  const active = ownLine(lines, 'active', WHOLE_STORE);
  const isFor = active === undefined || active.model.modelId === primary.modelId;
  if (!isFor || ownLine(lines, 'fallback', WHOLE_STORE)?.model.modelId === modelId) return;
  if (!hasEntries) {
    await tx.query(upsertAssignment(tenantId, { role: 'fallback', scope: WHOLE_STORE, modelId }, audit.now));
    return;
  }
  await startJob(
    tx,
    access,
    { kind: 'fill', scope: WHOLE_STORE, modelId, switchesItself: true, purgesOld: false },
    audit,
  );
}

async function readHasEntries(tx: SqlTransaction, tenantId: string): Promise<boolean> {
  const [row] = await tx.query<{ has_entries: boolean }>(selectHasEntries(tenantId));
  return row?.has_entries ?? false;
}

function ownLine(
  lines: readonly EmbeddingAssignment[],
  role: EmbeddingAssignment['role'],
  scope: string,
): EmbeddingAssignment | undefined {
  return lines.find((line) => line.role === role && line.scope === scope);
}

async function openChange(tx: SqlTransaction, tenantId: string): Promise<JobRow | undefined> {
  const rows = await tx.query<JobRow>(selectJobs(tenantId));
  return rows.find(({ kind, status }) => kind === 'change' && isOpen(status));
}

function isOpen(status: EmbeddingJob['status']): boolean {
  return status === 'running' || status === 'paused';
}

export async function startJob(
  tx: SqlTransaction,
  access: Access,
  job: NewJob,
  audit: AuditContext,
): Promise<EmbeddingJob> {
  const { tenantId, userId } = access.principal;
  const lines = await readAssignments(tx, tenantId);
  const [model] = await tx.query<AssignmentRow>(selectModel(tenantId, job.modelId));
  if (model === undefined) throw notFound('embedding model', job.modelId);
  if (job.kind === 'change') {
    const open = await openChange(tx, tenantId);
    // Two processes may start the same change at one time: they then work on it together.
    if (open?.scope === job.scope && open.model_id === job.modelId) return toJob(open);
    refuseChange(job, lines, open);
  }
  const id = uuidv7({ msecs: audit.now });
  await tx.query(insertJob(tenantId, id, job, userId, audit.now));
  const role = job.kind === 'change' ? 'target' : 'fallback';
  await tx.query(upsertAssignment(tenantId, { role, scope: job.scope, modelId: job.modelId }, audit.now));
  await recordDecision(tx, access, audit, `start_embedding_${job.kind}`, {
    job_id: id,
    scope: job.scope,
    model_id: job.modelId,
  });
  return readJob(tx, tenantId, id);
}

function refuseChange(
  { scope, modelId }: NewJob,
  lines: readonly EmbeddingAssignment[],
  open: JobRow | undefined,
): void {
  if (open !== undefined) {
    throw conflict(
      `A change of ${describeScope(open.scope)} to the model ${open.model_id} is under way (job ${open.job_id}).`,
      { got: modelId, hint: 'Let it finish, or cancel it first.' },
    );
  }
  if (modelOfScope(lines, scope)?.modelId !== modelId) return;
  throw conflict(`Searches in ${describeScope(scope)} use the model ${modelId} already.`, {
    got: modelId,
    hint: 'Choose another model, or another scope.',
  });
}

/** The model that a scope's searches use, apart from narrower scopes with models of their own. */
function modelOfScope(lines: readonly EmbeddingAssignment[], scope: string): KnownModel | null {
  const around = lines.filter(
    (line) => line.role === 'active' && (line.scope === scope || isWithin(scope, line.scope)),
  );
  // Of scopes that all contain one, each contains or is contained by the others.
  return around.find((line) => around.every((other) => !isWithin(other.scope, line.scope)))?.model ?? null;
}

function describeScope(scope: string): string {
  return scope === WHOLE_STORE ? 'the whole store' : scope;
}

export async function readJob(tx: SqlTransaction, tenantId: string, jobId: string): Promise<EmbeddingJob> {
  return toJob(await readJobRow(tx, tenantId, jobId));
}

export async function readJobRow(tx: SqlTransaction, tenantId: string, jobId: string): Promise<JobRow> {
  const [row] = isEntryId(jobId) ? await tx.query<JobRow>(selectJob(tenantId, jobId)) : [];
  if (row === undefined) throw notFound('embedding job', jobId.slice(0, 64));
  return row;
}

/** The job, locked, if it is not over. */
async function requireOpen(tx: SqlTransaction, tenantId: string, jobId: string): Promise<EmbeddingJob> {
  await readJobRow(tx, tenantId, jobId);
  await tx.query(lockJob(tenantId, jobId));
  const job = await readJob(tx, tenantId, jobId);
  if (isOpen(job.status)) return job;
  throw conflict(`The job ${jobId} is over: it is ${job.status}.`, { got: job.status });
}

/** Pauses or resumes. Doing it again changes nothing. */
export async function setPaused(
  tx: SqlTransaction,
  access: Access,
  jobId: string,
  isPaused: boolean,
  audit: AuditContext,
): Promise<EmbeddingJob> {
  const { tenantId } = access.principal;
  const job = await requireOpen(tx, tenantId, jobId);
  const status = isPaused ? 'paused' : 'running';
  if (job.status === status) return job;
  await tx.query(updateJobStatus(tenantId, jobId, status, null));
  await recordDecision(tx, access, audit, isPaused ? 'pause_embedding_job' : 'resume_embedding_job', {
    job_id: jobId,
  });
  return readJob(tx, tenantId, jobId);
}

/** Gives a job up: nothing is kept under its model on its account any more. */
export async function cancelJob(
  tx: SqlTransaction,
  access: Access,
  jobId: string,
  audit: AuditContext,
): Promise<EmbeddingJob> {
  const { tenantId } = access.principal;
  const job = await requireOpen(tx, tenantId, jobId);
  await tx.query(updateJobStatus(tenantId, jobId, 'cancelled', { now: audit.now, previousModelId: null }));
  await tx.query(deleteAssignment(tenantId, job.kind === 'change' ? 'target' : 'fallback', job.scope));
  await forgetUnused(tx, tenantId, job.model.modelId);
  await recordDecision(tx, access, audit, 'cancel_embedding_job', { job_id: jobId });
  return readJob(tx, tenantId, jobId);
}

/** Nothing waits for a model that nothing is kept under. */
async function forgetUnused(tx: SqlTransaction, tenantId: string, modelId: string): Promise<void> {
  const lines = await readAssignments(tx, tenantId);
  if (lines.every(({ model }) => model.modelId !== modelId)) await tx.query(deleteWaiting(tenantId, modelId));
}

/** Ends a complete job: a change becomes what searches use. */
export async function finishJob(
  tx: SqlTransaction,
  access: Access,
  jobId: string,
  accepts: { readonly refused: boolean; readonly waiting: boolean },
  counts: (job: JobRow) => Promise<{ readonly waiting: number; readonly refused: number }>,
  audit: AuditContext,
): Promise<EmbeddingJob> {
  const { tenantId } = access.principal;
  const job = await requireOpen(tx, tenantId, jobId);
  const { waiting, refused } = await counts(await readJobRow(tx, tenantId, jobId));
  // What nobody has looked at has no gap, and nobody would ever look at it again.
  if (!job.isScanned) {
    throw conflict(`The job ${jobId} is not complete: it has not looked at every entry yet.`, {
      got: job.status,
      hint: 'Let it run to its end first.',
    });
  }
  if (!accepts.waiting && waiting > 0) {
    throw conflict(`The job ${jobId} is not complete: ${waiting} entries wait for their vector.`, {
      got: waiting,
      hint: 'Let it run to its end first.',
    });
  }
  if (!accepts.refused && refused > 0) {
    throw conflict(
      `The model ${job.model.modelId} refuses ${refused} entries; searches would not find them.`,
      {
        got: refused,
        hint: 'Change those entries and have them tried again, or accept that they are found no more.',
      },
    );
  }
  const lines = await readAssignments(tx, tenantId);
  const previous = job.kind === 'change' ? modelOfScope(lines, job.scope) : null;
  await tx.query(
    updateJobStatus(tenantId, jobId, 'done', { now: audit.now, previousModelId: previous?.modelId ?? null }),
  );
  if (job.kind === 'change') await switchScope(tx, tenantId, job, lines, audit.now);
  if (previous !== null) await forgetUnused(tx, tenantId, previous.modelId);
  await recordDecision(tx, access, audit, `finish_embedding_${job.kind}`, {
    job_id: jobId,
    scope: job.scope,
    from: previous?.modelId ?? null,
    to: job.model.modelId,
  });
  return readJob(tx, tenantId, jobId);
}

async function switchScope(
  tx: SqlTransaction,
  tenantId: string,
  { scope, model }: EmbeddingJob,
  lines: readonly EmbeddingAssignment[],
  now: number,
): Promise<void> {
  await tx.query(deleteAssignment(tenantId, 'target', scope));
  const others = lines.filter((line) => line.scope !== scope);
  // A line that says what the scope around it says would only hide the next change of that one.
  const isSaidAround = modelOfScope(others, scope)?.modelId === model.modelId;
  await tx.query(
    isSaidAround
      ? deleteAssignment(tenantId, 'active', scope)
      : upsertAssignment(tenantId, { role: 'active', scope, modelId: model.modelId }, now),
  );
  const fallback = ownLine(lines, 'fallback', WHOLE_STORE);
  // A fallback to itself is none.
  if (scope === WHOLE_STORE && fallback?.model.modelId === model.modelId) {
    await tx.query(deleteAssignment(tenantId, 'fallback', WHOLE_STORE));
  }
}

/** The expressions that say which namespaces belong to a job. */
export async function jobScope(
  tx: SqlTransaction,
  tenantId: string,
  { kind, scope }: Pick<JobRow, 'kind' | 'scope'>,
): Promise<JobScope> {
  const lines = await readAssignments(tx, tenantId);
  const without = kind === 'change' ? scopesWithin({ assignments: lines }, scope) : [];
  return { within: scopeRegexSource([scope]), without: scopeRegexSource(without) };
}

/** For each model, the namespaces in which nothing uses it. */
export function unusedNamespaces(
  lines: readonly EmbeddingAssignment[],
  modelIds: readonly string[],
  namespaces: readonly string[],
): Map<string, string[]> {
  const plan = embeddingPlan({ assignments: lines });
  const unused = new Map(modelIds.map((modelId): [string, string[]] => [modelId, []]));
  for (const namespace of namespaces) {
    const kept = new Set(plan.kept(namespace).map(({ model }) => model.modelId));
    for (const modelId of modelIds) if (!kept.has(modelId)) unused.get(modelId)?.push(namespace);
  }
  return unused;
}
