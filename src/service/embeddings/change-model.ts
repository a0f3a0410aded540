import { setTimeout as sleep } from 'node:timers/promises';
import {
  type EmbeddingAssignment,
  type KnownModel,
  parseEmbeddingScope,
  WHOLE_STORE,
} from '../../core/embedding-state.ts';
import type {
  ChangeVerification,
  EmbeddingJob,
  EmbeddingStore,
  JobProgress,
} from '../../core/embedding-store.ts';
import { conflict, invalidInput, notFound, PalimpsestError } from '../../core/errors.ts';
import type { EmbeddingService } from '../../core/ports.ts';
import type { JsonObject } from '../../core/types.ts';
import type { RequestContext } from '../request-context.ts';
import { auditOf, type ServiceState } from '../service-parts.ts';
import { purgeUnused } from './backfill.ts';
import { letOthersGoOn } from './let-others-go-on.ts';
import { verifyChange } from './verify-change.ts';

/** Changes of the model that entries are searched by: what an administrator starts, watches and undoes. */

export interface ChangeRequest {
  /**
   * The provider to change to: its name, or its configuration with the field `provider`. Default: the one this
   * process is configured with.
   */
  readonly to?: string | JsonObject | undefined;
  /** `*` (default), a namespace, or a namespace and `.*` for all below it. */
  readonly scope?: string | undefined;
  /** Whether searches switch as soon as the change is complete and verified. Default true. */
  readonly switchesItself?: boolean | undefined;
  /** Whether vectors that the switch leaves unused are removed then. Default false: a rollback needs them. */
  readonly purgesOld?: boolean | undefined;
}

export interface RollbackRequest {
  readonly scope?: string | undefined;
  /**
   * Switches back at once, although entries written since may wait for their vector under the old model; searches
   * say `degraded` until they have it. Default false: they get it first.
   */
  readonly immediately?: boolean | undefined;
}

/** A job, and how far it is; null once it is over. */
export interface JobState {
  readonly job: EmbeddingJob;
  readonly progress: JobProgress | null;
}

/** Which models there are, and what is happening to them. */
export interface EmbeddingStatus {
  readonly assignments: readonly EmbeddingAssignment[];
  /** The last ones, newest first. */
  readonly jobs: readonly JobState[];
}

/** Jobs a status shows: those before them are history. */
const SHOWN_JOBS = 10;
/** Entries looked at in one step of a rollback. */
const SCAN_STEP = 2_000;
/** About as long as another process takes for its step of the same scan. */
const SCAN_WAIT_MS = 20;

/**
 * Starts a change, or gives the one to the same model that is under way already: a command that was killed is
 * simply given again.
 */
export async function startChange(
  state: ServiceState,
  context: RequestContext,
  request: ChangeRequest,
): Promise<EmbeddingJob> {
  const { tenantId } = governor(context);
  const scope = parseEmbeddingScope(request.scope ?? WHOLE_STORE, 'scope');
  const model = await modelFor(state, request.to);
  await state.embeddings.registerModel(tenantId, model);
  const job = await state.embeddings.startJob(
    context.access,
    {
      kind: 'change',
      scope,
      modelId: model.modelId,
      switchesItself: request.switchesItself ?? true,
      purgesOld: request.purgesOld ?? false,
    },
    auditOf(state, context),
  );
  state.backfill.kick();
  return job;
}

async function modelFor({ models }: ServiceState, to: string | JsonObject | undefined): Promise<KnownModel> {
  const [configured] = models.configured.models;
  if (to === undefined) {
    if (configured !== undefined) return { ...configured, settings: models.settingsOf(configured.modelId) };
    throw invalidInput('to: No embedding model is configured that could be changed to.', {
      path: 'to',
      hint: 'Name a provider, or configure one.',
    });
  }
  const settings = models.settingsFor(to);
  const service = openAsked(models, settings);
  try {
    const [model] = service.models;
    if (model === undefined) throw new Error('A configuration of one provider gave no model.');
    const { modelId, dimensions } = model;
    return { modelId, dimensions, settings };
  } finally {
    await service.close();
  }
}

/** What the caller named can't be opened here: that is not the server's configuration at fault, but the request. */
function openAsked({ open }: ServiceState['models'], settings: JsonObject): EmbeddingService {
  try {
    return open(settings);
  } catch (error) {
    if (!PalimpsestError.isInstance(error) || error.code !== 'invalid_config') throw error;
    const details = error.details.map((detail) => ({ ...detail, path: 'to' }));
    throw new PalimpsestError('invalid_input', `to: ${error.message}`, { details, cause: error });
  }
}

function isOpen({ status }: EmbeddingJob): boolean {
  return status === 'running' || status === 'paused';
}

export async function embeddingStatus(
  { embeddings }: ServiceState,
  context: RequestContext,
): Promise<EmbeddingStatus> {
  const { tenantId } = governor(context);
  const { assignments } = await embeddings.embeddingState(tenantId);
  const jobs: JobState[] = [];
  for (const job of (await embeddings.listJobs(tenantId)).slice(0, SHOWN_JOBS)) {
    jobs.push(await withProgress(embeddings, tenantId, job));
  }
  return { assignments, jobs };
}

/** One job, however long ago it was. */
export async function jobState(
  state: ServiceState,
  context: RequestContext,
  jobId: string,
): Promise<JobState> {
  const job = await findJob(state, context, jobId);
  return withProgress(state.embeddings, governor(context).tenantId, job);
}

async function withProgress(
  embeddings: EmbeddingStore,
  tenantId: string,
  job: EmbeddingJob,
): Promise<JobState> {
  return { job, progress: isOpen(job) ? await embeddings.jobProgress(tenantId, job.id) : null };
}

/** A job by its id; without one, the change that is open. */
export async function findJob(
  { embeddings }: Pick<ServiceState, 'embeddings'>,
  context: RequestContext,
  jobId: string | undefined,
): Promise<EmbeddingJob> {
  const { tenantId } = governor(context);
  const jobs = await embeddings.listJobs(tenantId);
  const found =
    jobId === undefined
      ? jobs.find((job) => job.kind === 'change' && isOpen(job))
      : jobs.find(({ id }) => id === jobId.toLowerCase());
  if (found !== undefined) return found;
  if (jobId !== undefined) throw notFound('embedding job', jobId.slice(0, 64));
  throw conflict('No change of the embedding model is under way.', {
    hint: 'Start one, or name a job by its id.',
  });
}

/** Compares both models before the switch; changes nothing that is searched. */
export async function verifyJob(
  state: ServiceState,
  context: RequestContext,
  jobId: string | undefined,
  options: {
    readonly queries?: readonly string[] | undefined;
    readonly signal?: AbortSignal | undefined;
  } = {},
): Promise<ChangeVerification> {
  const job = await findJob(state, context, jobId);
  return verifyChange(state, governor(context).tenantId, job, options);
}

/**
 * Switches searches to the model of a complete change.
 *
 * @throws PalimpsestError `conflict` while entries are missing, or refused and not accepted as such
 */
export async function switchJob(
  state: ServiceState,
  context: RequestContext,
  jobId: string | undefined,
  options: { readonly acceptsRefused?: boolean | undefined } = {},
): Promise<EmbeddingJob> {
  const { tenantId } = governor(context);
  const found = await findJob(state, context, jobId);
  const { counts } = await verifyChange(state, tenantId, found);
  requireNothingUnseen(found, counts.unseen);
  const accepts = { refused: options.acceptsRefused ?? false, waiting: false };
  const job = await state.embeddings.finishJob(context.access, found.id, accepts, auditOf(state, context));
  if (job.purgesOld) await purgeUnused(state.embeddings, tenantId);
  return job;
}

export function requireNothingUnseen({ id }: EmbeddingJob, unseen: number): void {
  if (unseen === 0) return;
  throw conflict(`The job ${id} has not looked at ${unseen} entries yet.`, {
    got: unseen,
    hint: 'Let it run to its end first.',
  });
}

/** Changes a scope back to the model it had before its last change. */
export async function rollBack(
  state: ServiceState,
  context: RequestContext,
  { scope = WHOLE_STORE, immediately = false }: RollbackRequest,
): Promise<EmbeddingJob> {
  const { tenantId } = governor(context);
  parseEmbeddingScope(scope, 'scope');
  const { embeddings } = state;
  const last = (await embeddings.listJobs(tenantId)).find(
    (job) => job.kind === 'change' && job.status === 'done' && job.scope === scope,
  );
  if (last === undefined || last.previousModel === null) {
    throw conflict(`There is no earlier model of ${scope} to go back to.`, { path: 'scope', got: scope });
  }
  const job = await embeddings.startJob(
    context.access,
    {
      kind: 'change',
      scope,
      modelId: last.previousModel.modelId,
      switchesItself: true,
      purgesOld: false,
    },
    auditOf(state, context),
  );
  state.backfill.kick();
  if (!immediately) return job;
  // Started earlier and paused since: nobody looks through the entries of such a job.
  if (job.status === 'paused') await embeddings.resumeJob(context.access, job.id, auditOf(state, context));
  const scanned = await scanToEnd(state, context, job);
  if (!isOpen(scanned)) return scanned;
  const accepts = { refused: true, waiting: true };
  return embeddings.finishJob(context.access, job.id, accepts, auditOf(state, context));
}

/** What waits has to be known before an immediate switch: afterwards nobody looks through the entries. */
async function scanToEnd(
  state: ServiceState,
  context: RequestContext,
  { id, model }: EmbeddingJob,
): Promise<EmbeddingJob> {
  const { tenantId } = governor(context);
  for (;;) {
    const hasScanned = await state.embeddings.scanNext(tenantId, model.modelId, SCAN_STEP);
    const job = await findJob(state, context, id);
    // A background that is quicker may have ended it.
    if (job.isScanned || !isOpen(job)) return job;
    if (job.status === 'paused') {
      throw conflict(`The job ${id} was paused meanwhile; nothing was switched.`, {
        got: job.status,
        hint: 'Resume it, or roll back again.',
      });
    }
    // Another process is at a step of this scan.
    if (hasScanned) await letOthersGoOn();
    else await sleep(SCAN_WAIT_MS);
  }
}

/** Removes vectors that nothing uses. Gives how many. */
export async function purgeOld(
  state: ServiceState,
  context: RequestContext,
  signal?: AbortSignal,
): Promise<number> {
  const { tenantId } = governor(context);
  const removed = await purgeUnused(state.embeddings, tenantId, signal);
  await state.embeddings.auditPurge(context.access, { removed }, auditOf(state, context));
  return removed;
}

/** @throws PalimpsestError `forbidden` for whoever does not govern the tenant */
export function governor({ access: { principal } }: RequestContext): { readonly tenantId: string } {
  if (principal.isAdmin || principal.isTenantWide) return principal;
  throw new PalimpsestError('forbidden', 'Only an administrator may look at and change embedding models.', {
    details: [{ got: principal.userId, hint: 'A model measures the searches of every user of the tenant.' }],
  });
}
