import { z } from 'zod';
import type { HttpApp, RouteOptions } from '../http-app.ts';

const liveSchema = z.strictObject({ status: z.literal('live') });
const readySchema = z.strictObject({
  status: z.literal('ready'),
  backend: z.enum(['pglite', 'postgres']),
  schema_version: z.int(),
});

/** For whoever watches over the process. They need no identity and tell nothing of anybody. */
export async function healthRoutes(app: HttpApp, { service }: RouteOptions): Promise<void> {
  app.get('/livez', { schema: { response: { 200: liveSchema } } }, async () => ({ status: 'live' as const }));

  /** 503 in the one error shape while the store can't answer. */
  app.get('/readyz', { schema: { response: { 200: readySchema } } }, async () => {
    const { backend, schemaVersion } = await service.health();
    return { status: 'ready' as const, backend, schema_version: schemaVersion };
  });
}
