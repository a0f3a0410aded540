import { type FastifyBaseLogger, type FastifyRequest, fastify } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { v7 as uuidv7 } from 'uuid';
import type { Access } from '../core/types.ts';
import type { MemoryService } from '../service/memory-service.ts';
import { useContract } from './contract-compilers.ts';
import { answerClientError, sendError, sendNotFound } from './error-response.ts';
import type { HttpApp } from './http-app.ts';
import { acceptJsonBodies } from './json-body.ts';
import { RequestLog } from './log.ts';
import { healthRoutes } from './routes/health.ts';
import { memoryRoutes } from './routes/memories.ts';
import { recallRoutes } from './routes/recall.ts';

export interface HttpAppOptions {
  readonly service: MemoryService;
  /**
   * Who asks, and what they may reach. Called for each request of the API before its body is read; throws
   * `unauthenticated` or `forbidden` to refuse it.
   */
  readonly accessOf: (request: FastifyRequest) => Access | Promise<Access>;
  /** Gets one line per request and every error that is the server's. */
  readonly logger: FastifyBaseLogger;
}

/** A body of one entry at its limits, every character escaped, fits; a batch has a limit of its own. */
const BODY_LIMIT = 1024 * 1024;

/** Builds the server without listening: `inject()` tests it in process, `serveHttp` opens its port. */
export function buildHttpApp({ service, accessOf, logger }: HttpAppOptions): HttpApp {
  const app = fastify({
    loggerInstance: logger,
    logController: new RequestLog(),
    genReqId: () => uuidv7(),
    bodyLimit: BODY_LIMIT,
    // A request that races the shutdown is answered, and its connection then closed.
    return503OnClosing: false,
    frameworkErrors: sendError,
    clientErrorHandler: answerClientError,
    // Ids are looked up, so that a long wrong one is simply unknown.
    routerOptions: { maxParamLength: 1024 },
  }).withTypeProvider<ZodTypeProvider>();
  useContract(app);
  acceptJsonBodies(app);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler(sendNotFound);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.register(healthRoutes, { service });
  app.register(
    async (api) => {
      api.decorateRequest('context');
      api.addHook('onRequest', async (request) => {
        request.context = { access: await accessOf(request) };
      });
      api.register(memoryRoutes, { service });
      api.register(recallRoutes, { service });
    },
    { prefix: '/v1' },
  );
  return app;
}
