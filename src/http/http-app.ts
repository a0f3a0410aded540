import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { GovernanceService } from '../service/governance-service.ts';
import type { MemoryService } from '../service/memory-service.ts';

/** The server, built. */
export type HttpApp = FastifyInstance<
  FastifyInstance['server'],
  Parameters<FastifyInstance['routing']>[0],
  Parameters<FastifyInstance['routing']>[1],
  FastifyBaseLogger
>;

/** What handlers call. */
export interface HandlerParts {
  readonly service: MemoryService;
  readonly governance: GovernanceService;
}
