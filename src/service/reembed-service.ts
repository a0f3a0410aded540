import type { ChangeVerification, EmbeddingJob } from '../core/embedding-store.ts';
import {
  type ChangeRequest,
  type EmbeddingStatus,
  embeddingStatus,
  findJob,
  type JobState,
  jobState,
  purgeOld,
  type RollbackRequest,
  rollBack,
  startChange,
  switchJob,
  verifyJob,
} from './embeddings/change-model.ts';
import { type RunOptions, type RunResult, runJob } from './embeddings/run-job.ts';
import { guarded } from './guard.ts';
import type { RequestContext } from './request-context.ts';
import { auditOf, type ServiceState } from './service-parts.ts';

export type { ChangeRequest, EmbeddingStatus, JobState, RollbackRequest } from './embeddings/change-model.ts';
export type { RunOptions, RunResult } from './embeddings/run-job.ts';

/**
 * Changing the embedding model while everything runs. For administrators; others are refused with `forbidden`.
 *
 * A change embeds every entry of its scope under the new model beside the old one, in the background of any process
 * and in `run`. Searches use the old model until the change is complete and verified, then the new one, in one
 * transaction for every process. Where a job's id may be left out, the change that is open is meant.
 */
export interface ReembedService {
  status(context: RequestContext): Promise<EmbeddingStatus>;
  job(context: RequestContext, jobId: string): Promise<JobState>;
  /** Starts a change, or gives the open one to the same model. It goes on by itself; `run` makes it faster. */
  start(context: RequestContext, request?: ChangeRequest): Promise<EmbeddingJob>;
  /** Works on a job until it is over, or complete and for somebody to switch. */
  run(context: RequestContext, jobId?: string, options?: RunOptions): Promise<RunResult>;
  /** Counts, and how far both models find the same. Kept with the job. */
  verify(
    context: RequestContext,
    jobId?: string,
    options?: { readonly queries?: readonly string[] | undefined },
  ): Promise<ChangeVerification>;
  /** @throws PalimpsestError `conflict` while entries are missing, or refused and not accepted as such */
  switchOver(
    context: RequestContext,
    jobId?: string,
    options?: { readonly acceptsRefused?: boolean | undefined },
  ): Promise<EmbeddingJob>;
  pause(context: RequestContext, jobId?: string): Promise<EmbeddingJob>;
  resume(context: RequestContext, jobId?: string): Promise<EmbeddingJob>;
  /** Gives a change up. What it embedded stays until it is purged, and is used if it is started again. */
  cancel(context: RequestContext, jobId?: string): Promise<EmbeddingJob>;
  /** Has texts that the model refused tried again. Gives how many. */
  retryRefused(context: RequestContext, jobId?: string): Promise<number>;
  /** Changes back to the model before. */
  rollBack(context: RequestContext, request?: RollbackRequest): Promise<EmbeddingJob>;
  /** Removes vectors that nothing uses; gives how many. A rollback then has to embed anew. */
  purge(context: RequestContext, options?: { readonly signal?: AbortSignal | undefined }): Promise<number>;
}

export function createReembedService(state: ServiceState): ReembedService {
  const { embeddings } = state;
  const call = <T>(context: RequestContext, operation: string, work: () => Promise<T>) =>
    guarded(state, context, { operation, scope: 'admin' }, work);
  const onJob = <T>(
    context: RequestContext,
    operation: string,
    jobId: string | undefined,
    work: (id: string) => Promise<T>,
  ) => call(context, operation, async () => work((await findJob(state, context, jobId)).id));
  return {
    status: (context) => call(context, 'embedding_status', () => embeddingStatus(state, context)),
    job: (context, jobId) => call(context, 'embedding_status', () => jobState(state, context, jobId)),
    start: (context, request = {}) => call(context, 'reembed', () => startChange(state, context, request)),
    run: (context, jobId, options) =>
      call(context, 'run_reembed', () => runJob(state, context, jobId, options)),
    verify: (context, jobId, options) =>
      call(context, 'verify_reembed', () => verifyJob(state, context, jobId, options)),
    switchOver: (context, jobId, options) =>
      call(context, 'switch_reembed', () => switchJob(state, context, jobId, options)),
    pause: (context, jobId) =>
      onJob(context, 'pause_reembed', jobId, (id) =>
        embeddings.pauseJob(context.access, id, auditOf(state, context)),
      ),
    async resume(context, jobId) {
      const job = await onJob(context, 'resume_reembed', jobId, (id) =>
        embeddings.resumeJob(context.access, id, auditOf(state, context)),
      );
      state.backfill.kick();
      return job;
    },
    cancel: (context, jobId) =>
      onJob(context, 'cancel_reembed', jobId, (id) =>
        embeddings.cancelJob(context.access, id, auditOf(state, context)),
      ),
    async retryRefused(context, jobId) {
      const retried = await onJob(context, 'retry_refused', jobId, (id) =>
        embeddings.retryRefused(context.access, id, auditOf(state, context)),
      );
      state.backfill.kick();
      return retried;
    },
    rollBack: (context, request = {}) =>
      call(context, 'rollback_reembed', () => rollBack(state, context, request)),
    purge: (context, { signal } = {}) =>
      call(context, 'purge_embeddings', () => purgeOld(state, context, signal)),
  };
}
