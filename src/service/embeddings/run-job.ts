import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddingJob, JobProgress } from '../../core/embedding-store.ts';
import type { RequestContext } from '../request-context.ts';
import type { ServiceState } from '../service-parts.ts';
import { type BackfillOptions, backfillStep } from './backfill.ts';
import { findJob, governor } from './change-model.ts';

export interface RunOptions extends Pick<BackfillOptions, 'workers' | 'batchSize' | 'leaseMs'> {
  /** Stops working; the job stays as it is, for anybody to go on with. */
  readonly signal?: AbortSignal | undefined;
  /** Told about twice a second how far the job is. */
  readonly onProgress?: ((progress: JobProgress, job: EmbeddingJob) => void) | undefined;
}

export interface RunResult {
  readonly job: EmbeddingJob;
  readonly progress: JobProgress;
}

const PROGRESS_MS = 500;
/** How long a worker that finds nothing to do waits: others work, or the model is left alone. */
const IDLE_MS = 200;

/**
 * Works on a job, beside whoever else does, until it is over, or complete and waiting for somebody to switch, or the
 * signal says so. While it is paused it waits.
 */
export async function runJob(
  state: ServiceState,
  context: RequestContext,
  jobId: string | undefined,
  options: RunOptions = {},
): Promise<RunResult> {
  const { tenantId } = governor(context);
  const { id, model } = await findJob(state, context, jobId);
  const ended = new AbortController();
  const signal =
    options.signal === undefined ? ended.signal : AbortSignal.any([options.signal, ended.signal]);
  const failures: unknown[] = [];
  const work = async () => {
    try {
      while (!signal.aborted) {
        const step = await backfillStep(state, { tenantId, model }, options, signal);
        if (step !== 'worked') await pause(IDLE_MS, signal);
      }
    } catch (error) {
      // What a worker was doing when it was told to end is given back.
      if (signal.aborted) return;
      failures.push(error);
      ended.abort(error);
    }
  };
  const workers = Array.from({ length: options.workers ?? 1 }, work);
  let result = await watch(state, context, id, options);
  while (!isOver(result) && !signal.aborted) {
    await pause(PROGRESS_MS, signal);
    result = await watch(state, context, id, options);
  }
  ended.abort(new Error('The job is over.'));
  await Promise.all(workers);
  if (failures.length > 0) throw failures[0];
  return watch(state, context, id, options);
}

async function watch(
  state: ServiceState,
  context: RequestContext,
  jobId: string,
  { onProgress }: RunOptions,
): Promise<RunResult> {
  const job = await findJob(state, context, jobId);
  const progress = await state.embeddings.jobProgress(governor(context).tenantId, jobId);
  onProgress?.(progress, job);
  return { job, progress };
}

function isOver({ job, progress }: RunResult): boolean {
  if (job.status === 'done' || job.status === 'cancelled') return true;
  const isComplete = job.isScanned && progress.settled >= progress.entries;
  // Texts that the model refuses are for a person to decide about.
  return isComplete && job.kind === 'change' && (!job.switchesItself || progress.refused > 0);
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(milliseconds, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
