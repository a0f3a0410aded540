import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { MemoryService } from '../service/memory-service.ts';
import type { RequestContext } from '../service/request-context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks: set before any route of the API runs. */
    context: RequestContext;
  }
}

/** The server as the routes see it: requests and answers are typed by the contract's schemas. */
export type HttpApp = FastifyInstance<
  FastifyInstance['server'],
  Parameters<FastifyInstance['routing']>[0],
  Parameters<FastifyInstance['routing']>[1],
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** What a route file gets. */
export interface RouteOptions {
  readonly service: MemoryService;
}
