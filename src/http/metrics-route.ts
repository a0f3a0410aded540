import type { FastifyRequest } from 'fastify';
import type { HttpApp } from './http-app.ts';

export interface MetricsRouteOptions {
  /** Refuses whoever may not read them, by throwing. */
  readonly admit: (request: FastifyRequest) => void;
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

/** What Prometheus asks for. It tells of this process as a whole, and of nobody. */
export async function metricsRoute(app: HttpApp, { admit, read }: MetricsRouteOptions): Promise<void> {
  app.addHook('onRequest', async (request) => admit(request));
  app.get('/metrics', { exposeHeadRoute: false }, async (_request, reply) => {
    const { contentType, text } = await read();
    return reply.type(contentType).header('cache-control', 'no-store').send(text);
  });
}
