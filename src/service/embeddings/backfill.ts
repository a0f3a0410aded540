import type { ClaimedEntry, EmbeddingJob, EmbeddingStore, PendingModel } from '../../core/embedding-store.ts';
import { PalimpsestError } from '../../core/errors.ts';
import type { Clock, EmbeddingService } from '../../core/ports.ts';
import { systemAccess } from '../../core/system-access.ts';
import { atMostEvery, type ServiceLog } from '../service-log.ts';
import { embedEntries, ModelDownError } from './embed-entries.ts';
import { letOthersGoOn } from './let-others-go-on.ts';
import type { ModelCatalog } from './model-catalog.ts';
import { verifyChange } from './verify-change.ts';

/**
 * Fills in vectors that entries have not got yet, and carries changes of the model through. Any number of workers,
 * in any number of processes, share the work by what the database says; each may be killed at any moment, and what
 * it had claimed is taken over when its lease ends.
 */

export interface BackfillParts {
  readonly embeddings: EmbeddingStore;
  readonly catalog: ModelCatalog;
  readonly clock: Clock;
  readonly log: ServiceLog;
  /** Makes ids of claims. */
  readonly newId: () => string;
}

export interface BackfillOptions {
  /** Batches at a time, 1 or more. Default 1: a local model has one thread anyway. */
  readonly workers?: number | undefined;
  /** Entries of a batch, 1 or more. Default 32: a second or two of a local model. */
  readonly batchSize?: number | undefined;
  /** How long a claim holds without a sign of life, in milliseconds. Default 15,000. */
  readonly leaseMs?: number | undefined;
  /** How often to look whether there is work, in milliseconds. Default 5,000. */
  readonly pollMs?: number | undefined;
}

const DEFAULTS = { workers: 1, batchSize: 32, leaseMs: 15_000, pollMs: 5_000 } as const;
/** Entries that are looked at in one step of a job: a few milliseconds. */
const SCAN_STEP = 2_000;
/** How long after a write its gaps are looked for: the write has to be over, and others may follow. */
const KICK_MS = 250;
/** Vectors removed in one step. */
const PURGE_STEP = 1_000;
const LOG_EVERY_MS = 60_000;

/** The background work of a process. */
export interface Backfill {
  /** Says that there may be work. Never waits. */
  kick(): void;
  /** Gives up what is under way, gives claims back, and ends. */
  close(): Promise<void>;
}

/** What one step came to: `worked`: there may be more. `idle`: nothing to do now. `down`: the model does not answer. */
export type BackfillStep = 'worked' | 'idle' | 'down';

/** Starts working in the background. Timers keep no process alive. */
export function startBackfill(parts: BackfillParts, options: BackfillOptions = {}): Backfill {
  const { workers = DEFAULTS.workers, pollMs = DEFAULTS.pollMs } = options;
  const stopped = new AbortController();
  const say = atMostEvery(LOG_EVERY_MS, parts.clock, () =>
    parts.log.warn('missing embeddings can not be filled in now', {}, lastError),
  );
  let lastError: unknown;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isKicked = false;

  const schedule = (milliseconds: number) => {
    if (stopped.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(run, milliseconds);
    timer.unref();
  };
  const run = () => {
    if (running !== undefined) return;
    isKicked = false;
    running = workOff(parts, { ...options, workers }, stopped.signal)
      .catch((error: unknown) => {
        if (stopped.signal.aborted) return;
        lastError = error;
        say();
      })
      .finally(() => {
        running = undefined;
        schedule(isKicked ? KICK_MS : pollMs);
      });
  };
  schedule(pollMs);
  return {
    kick() {
      if (isKicked) return;
      isKicked = true;
      if (running === undefined) schedule(KICK_MS);
    },
    async close() {
      stopped.abort(new Error('The process ends.'));
      clearTimeout(timer);
      await running;
    },
  };
}

/** Works until nothing is left to do anywhere that this process can do. */
async function workOff(
  parts: BackfillParts,
  options: BackfillOptions & { readonly workers: number },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const pending = (await parts.embeddings.pendingModels()).filter(
      ({ model }) => parts.catalog.forDocuments(model) !== null,
    );
    let hasWorked = false;
    for (const model of pending) {
      const steps = await Promise.all(
        Array.from({ length: options.workers }, () => backfillStep(parts, model, options, signal)),
      );
      hasWorked ||= steps.includes('worked');
    }
    if (!hasWorked || signal.aborted) return;
  }
}

/** One step for one model of one tenant: a batch of entries, a look for more, or the end of a job. */
export async function backfillStep(
  parts: BackfillParts,
  { tenantId, model }: PendingModel,
  options: BackfillOptions,
  signal: AbortSignal,
): Promise<BackfillStep> {
  await letOthersGoOn();
  const { embeddings, catalog } = parts;
  const service = catalog.forDocuments(model);
  if (service === null || signal.aborted) return 'idle';
  const { batchSize = DEFAULTS.batchSize, leaseMs = DEFAULTS.leaseMs } = options;
  const claim = { id: parts.newId(), limit: batchSize, leaseMs };
  const entries = await embeddings.claimEntries(tenantId, model.modelId, claim);
  if (entries.length > 0) {
    return embedClaim(parts, service, { tenantId, model }, { ...claim, entries }, signal);
  }
  if (await embeddings.scanNext(tenantId, model.modelId, SCAN_STEP)) return 'worked';
  return (await finishJobs(parts, { tenantId, model }, signal)) ? 'worked' : 'idle';
}

interface Claim {
  readonly id: string;
  readonly leaseMs: number;
  readonly entries: readonly ClaimedEntry[];
}

async function embedClaim(
  { embeddings, log }: BackfillParts,
  service: EmbeddingService,
  { tenantId, model: { modelId } }: PendingModel,
  claim: Claim,
  signal: AbortSignal,
): Promise<BackfillStep> {
  const renewal = setInterval(() => {
    embeddings.renewClaim(tenantId, modelId, claim).catch((error: unknown) => {
      // Others may then do the same work again, which does no harm.
      log.warn('a claim of entries to embed could not be renewed', { model_id: modelId }, error);
    });
  }, claim.leaseMs / 3);
  renewal.unref();
  try {
    const settled = await embedEntries(service, modelId, claim.entries, signal);
    clearInterval(renewal);
    await embeddings.settleEntries(tenantId, modelId, claim.id, settled);
    return 'worked';
  } catch (error) {
    clearInterval(renewal);
    await embeddings.releaseClaim(tenantId, modelId, claim.id);
    if (!(error instanceof ModelDownError)) throw error;
    const { message, afterMs } = error;
    await embeddings.deferModel(tenantId, modelId, { message, afterMs });
    return 'down';
  }
}

/** Ends what is complete and may end by itself. False where nothing was. */
async function finishJobs(
  parts: BackfillParts,
  { tenantId, model }: PendingModel,
  signal: AbortSignal,
): Promise<boolean> {
  const jobs = (await parts.embeddings.listJobs(tenantId)).filter(
    (job) =>
      job.model.modelId === model.modelId &&
      job.status === 'running' &&
      job.isScanned &&
      (job.kind === 'fill' || job.switchesItself),
  );
  let hasFinished = false;
  for (const job of jobs) hasFinished = (await finishIfComplete(parts, tenantId, job, signal)) || hasFinished;
  return hasFinished;
}

async function finishIfComplete(
  parts: BackfillParts,
  tenantId: string,
  job: EmbeddingJob,
  signal: AbortSignal,
): Promise<boolean> {
  const { embeddings, clock } = parts;
  const { entries, settled, refused } = await embeddings.jobProgress(tenantId, job.id);
  // What the model refuses is a person's to decide.
  if (settled < entries || (refused > 0 && job.kind === 'change')) return false;
  try {
    if (job.kind === 'change') {
      const { counts } = await verifyChange(parts, tenantId, job, { signal });
      if (counts.unseen > 0) throw unseen(job, counts.unseen);
    }
    const accepts = { refused: job.kind === 'fill', waiting: false };
    await embeddings.finishJob(systemAccess(tenantId), job.id, accepts, { now: clock() });
  } catch (error) {
    // Somebody else ended it, or a write came in between.
    if (PalimpsestError.isInstance(error) && error.code === 'conflict') return false;
    throw error;
  }
  if (job.purgesOld) await purgeUnused(embeddings, tenantId, signal);
  return true;
}

/** Entries with neither a vector nor a note that they lack one: nothing this product does leads there. */
function unseen({ id }: EmbeddingJob, count: number): Error {
  return new Error(`The job ${id} has missed ${count} entries; it is not finished.`);
}

/** Removes every vector that nothing uses, some at a time; gives how many. */
export async function purgeUnused(
  embeddings: EmbeddingStore,
  tenantId: string,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (;;) {
    await letOthersGoOn();
    signal?.throwIfAborted();
    const step = await embeddings.purgeUnused(tenantId, PURGE_STEP);
    removed += step;
    if (step < PURGE_STEP) return removed;
  }
}
