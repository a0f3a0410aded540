import type { MemoryBackend } from '../../src/adapters/memory-backend.ts';
import { createClient } from '../../src/client/index.ts';
import { serveHttp } from '../../src/http/serve-http.ts';
import { OpenedMemory } from '../../src/library/opened-memory.ts';
import { openTestHttp } from './test-http.ts';

/** A memory as an adapter gets it, and the same one as its operator has it in this process. */
export interface TestBackend {
  readonly memory: MemoryBackend;
  readonly operator: OpenedMemory;
  close(): Promise<void>;
}

async function openInProcess(): Promise<TestBackend> {
  const http = await openTestHttp();
  const operator = new OpenedMemory(http.opened);
  return { memory: operator, operator, close: () => http.close() };
}

async function openOverHttp(): Promise<TestBackend> {
  const http = await openTestHttp();
  const server = await serveHttp(http.app, { host: '127.0.0.1', port: 0 });
  return {
    memory: createClient({ baseUrl: server.url }),
    operator: new OpenedMemory(http.opened),
    close: async () => {
      await server.close();
      await http.close();
    },
  };
}

/** Every adapter has to do the same on both. */
export const BACKENDS = [
  { name: 'in this process', open: openInProcess },
  { name: 'over HTTP', open: openOverHttp },
];
