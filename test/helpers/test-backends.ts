import type { MemoryBackend } from '../../src/adapters/memory-backend.ts';
import { createClient } from '../../src/client/index.ts';
import { serveHttp } from '../../src/http/serve-http.ts';
import { OpenedMemory } from '../../src/library/opened-memory.ts';
import type { PolicyDraft } from '../../src/service/governance-service.ts';
import { DEFAULT_TENANT, LOCAL_OPERATOR } from '../../src/service/local-operator.ts';
import { openTestHttp, type TestHttp } from './test-http.ts';

/** A memory as an adapter gets it, and the same one as its operator has it in this process. */
export interface TestBackend {
  /** The operator's. */
  readonly memory: MemoryBackend;
  readonly operator: OpenedMemory;
  /** The memory of a user, with an agent at work where one is named. */
  as(userId: string, agentId?: string): Promise<MemoryBackend>;
  putPolicy(agentId: string, policy: PolicyDraft): Promise<void>;
  close(): Promise<void>;
}

async function openInProcess(): Promise<TestBackend> {
  const http = await openTestHttp();
  const operator = new OpenedMemory(http.opened);
  return {
    memory: operator,
    operator,
    as: async (userId, agentId) => {
      const user = operator.as({ userId });
      return agentId === undefined ? user : user.onBehalfOf({ agentId });
    },
    putPolicy: (agentId, policy) => putPolicy(http, agentId, policy),
    close: () => http.close(),
  };
}

async function openOverHttp(): Promise<TestBackend> {
  const http = await openTestHttp({ asksForKeys: 'optional' });
  const server = await serveHttp(http.app, { host: '127.0.0.1', port: 0 });
  return {
    memory: createClient({ baseUrl: server.url }),
    operator: new OpenedMemory(http.opened),
    as: async (userId, agentId) => {
      const apiKey = await http.makeKey(userId, { tenantId: DEFAULT_TENANT });
      const user = createClient({ baseUrl: server.url, apiKey });
      return agentId === undefined ? user : user.for({ agentId });
    },
    putPolicy: (agentId, policy) => putPolicy(http, agentId, policy),
    close: async () => {
      await server.close();
      await http.close();
    },
  };
}

async function putPolicy({ opened }: TestHttp, agentId: string, policy: PolicyDraft): Promise<void> {
  await opened.governance.putPolicy({ access: LOCAL_OPERATOR }, { kind: 'agent', id: agentId }, policy);
}

/** Every adapter has to do the same on both. */
export const BACKENDS = [
  { name: 'in this process', open: openInProcess },
  { name: 'over HTTP', open: openOverHttp },
];
