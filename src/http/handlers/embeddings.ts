import { shownEmbeddingStatus, shownJob } from '../../contract/embedding-job.ts';
import type { embeddingRoutes } from '../../contract/routes/embeddings.ts';
import type { HandlerParts } from '../http-app.ts';
import type { RouteHandlers } from '../route-handler.ts';

export function embeddingHandlers({
  reembed,
}: HandlerParts): Pick<RouteHandlers, keyof typeof embeddingRoutes> {
  return {
    async getEmbeddings({ context }) {
      return { body: shownEmbeddingStatus(await reembed.status(context)) };
    },
    async startEmbeddingJob({ context, body }) {
      return { body: shownJob(await reembed.start(context, body)) };
    },
    async getEmbeddingJob({ context, params }) {
      const { job, progress } = await reembed.job(context, params.id);
      return { body: shownJob(job, progress) };
    },
    async verifyEmbeddingJob({ context, params, body }) {
      return { body: await reembed.verify(context, params.id, body) };
    },
    async switchEmbeddingJob({ context, params, body }) {
      return { body: shownJob(await reembed.switchOver(context, params.id, body)) };
    },
    async pauseEmbeddingJob({ context, params }) {
      return { body: shownJob(await reembed.pause(context, params.id)) };
    },
    async resumeEmbeddingJob({ context, params }) {
      return { body: shownJob(await reembed.resume(context, params.id)) };
    },
    async cancelEmbeddingJob({ context, params }) {
      return { body: shownJob(await reembed.cancel(context, params.id)) };
    },
    async retryRefusedEntries({ context, params }) {
      return { body: { retried: await reembed.retryRefused(context, params.id) } };
    },
    async rollBackEmbeddings({ context, body }) {
      return { body: shownJob(await reembed.rollBack(context, body)) };
    },
    async purgeEmbeddings({ context }) {
      return { body: { removed: await reembed.purge(context) } };
    },
  };
}
