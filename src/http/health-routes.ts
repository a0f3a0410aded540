import { toWireError } from '../contract/error-body.ts';
import { PalimpsestError } from '../core/errors.ts';
import { oneAtATime } from '../core/one-at-a-time.ts';
import type { MemoryService } from '../service/memory-service.ts';
import type { HttpApp } from './http-app.ts';

/** Whoever watches over the process asks again soon, and gives up himself after a few seconds. */
const DEFAULT_DEADLINE_MS = 3_000;

export interface HealthRouteOptions {
  readonly service: Pick<MemoryService, 'health'>;
  /** How long the store may take to answer, in milliseconds. Default 3,000. */
  readonly deadlineMs?: number | undefined;
}

/** For whoever watches over the process. They need no identity and tell nothing of anybody. */
export async function healthRoutes(app: HttpApp, options: HealthRouteOptions): Promise<void> {
  const { service, deadlineMs = DEFAULT_DEADLINE_MS } = options;
  const health = oneAtATime(() => service.health());

  app.get('/livez', async () => ({ status: 'live' }));

  /** 503 in the one error shape while the store can't answer, and from the moment the server is told to stop. */
  app.get('/readyz', async (request, reply) => {
    // Told without a line of error in the log: nothing is wrong.
    if (app.isDraining) return reply.code(503).send(toWireError(SHUTTING_DOWN, request.id));
    const { backend, schemaVersion } = await within(deadlineMs, health());
    return { status: 'ready', backend, schema_version: schemaVersion };
  });
}

const SHUTTING_DOWN = new PalimpsestError(
  'shutting_down',
  'This server is about to stop: requests under way are finished, new ones belong to another.',
);

/** @throws PalimpsestError `store_unavailable` */
async function within<T>(deadlineMs: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new PalimpsestError(
      'store_unavailable',
      `The store did not answer within ${deadlineMs / 1000} s.`,
    );
    timer = setTimeout(reject, deadlineMs, error);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
