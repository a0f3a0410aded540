import type { MemoryService } from '../service/memory-service.ts';
import type { HttpApp } from './http-app.ts';

/** For whoever watches over the process. They need no identity and tell nothing of anybody. */
export async function healthRoutes(
  app: HttpApp,
  { service }: { readonly service: MemoryService },
): Promise<void> {
  app.get('/livez', async () => ({ status: 'live' }));

  /** 503 in the one error shape while the store can't answer. */
  app.get('/readyz', async () => {
    const { backend, schemaVersion } = await service.health();
    return { status: 'ready', backend, schema_version: schemaVersion };
  });
}
