import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { ErrorCode } from '../core/errors.ts';
import type { BegunRequest } from '../core/telemetry.ts';
import type { GovernanceService } from '../service/governance-service.ts';
import type { MemoryService } from '../service/memory-service.ts';
import type { ReembedService } from '../service/reembed-service.ts';
import type { RequestContext } from '../service/request-context.ts';

/** The server, built. */
export type HttpApp = FastifyInstance<
  FastifyInstance['server'],
  Parameters<FastifyInstance['routing']>[0],
  Parameters<FastifyInstance['routing']>[1],
  FastifyBaseLogger
>;

declare module 'fastify' {
  interface FastifyInstance {
    /** True from the moment that the server is told to stop. */
    isDraining: boolean;
  }
  interface FastifyRequest {
    /** The code of the error that was answered; null: none was. */
    errorCode: ErrorCode | null;
    /** How the request is measured. */
    begun: BegunRequest | null;
  }
}

/** What handlers call. */
export interface HandlerParts {
  readonly service: MemoryService;
  readonly governance: GovernanceService;
  readonly reembed: ReembedService;
}

/** Answers one request of MCP over HTTP, whose asker is known and whose body is read. */
export type McpHandler = (request: Request, body: unknown, context: RequestContext) => Promise<Response>;
