import { type OpenedMemoryService, openMemoryService } from '../../src/app.ts';
import type { AuditRecord, KeyScope } from '../../src/core/governance.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { identifiedContext } from '../../src/service/identified-context.ts';
import { LOCAL_OPERATOR } from '../../src/service/local-operator.ts';
import type { RequestContext } from '../../src/service/request-context.ts';
import { similarityProvider } from './similarity-provider.ts';
import { testLocation } from './test-store.ts';

export const TENANT = 'acme';

/** The services as faces call them, on the suite's backend, with users of one tenant. */
export interface TestServices extends OpenedMemoryService {
  /** Milliseconds since the epoch. */
  now(): number;
  advance(milliseconds: number): void;
  /** The tenant's audit, newest first, with everything that still waited. */
  audit(tenantId?: string): Promise<readonly AuditRecord[]>;
  /** The warnings of one user, newest first. */
  warningsOf(actorId: string): Promise<readonly AuditRecord[]>;
}

export async function openTestServices(
  options: { readonly provider?: EmbeddingProvider; readonly maxConnections?: number } = {},
): Promise<TestServices> {
  let now = Date.parse('2026-05-02T12:00:00Z');
  const { location, drop } = await testLocation();
  const { provider = similarityProvider(), maxConnections } = options;
  const opened = await openMemoryService({
    location: 'databaseUrl' in location ? { ...location, maxConnections } : location,
    embedding: provider,
    clock: () => now,
  });
  const audit = async (tenantId = TENANT) =>
    (await opened.governance.listAudit(operator(tenantId), { limit: 500 })).items;
  return {
    ...opened,
    now: () => now,
    advance: (milliseconds) => {
      now += milliseconds;
    },
    audit,
    warningsOf: async (actorId) =>
      (await audit()).filter((record) => record.action === 'warning' && record.actorId === actorId),
    close: async () => {
      await opened.close();
      await drop();
    },
  };
}

type ContextOptions = Pick<RequestContext, 'subject' | 'origin' | 'detail'> & {
  readonly scopes?: readonly KeyScope[];
  readonly agentId?: string;
  readonly tenantId?: string;
};

/** A request of a user, by default with everything but `admin`. */
export function as(userId: string, options: ContextOptions = {}): RequestContext {
  const { scopes = ['read', 'write', 'feedback'], agentId = null, tenantId = TENANT, ...request } = options;
  return identifiedContext(
    {
      principal: { tenantId, userId, isAdmin: scopes.includes('admin'), isTenantWide: false },
      scopes,
      keyId: null,
      tokenId: null,
      agentId,
    },
    request,
  );
}

/** A request of an administrator, who may also read and write. */
export function asAdmin(options: ContextOptions = {}): RequestContext {
  return as('root', { scopes: ['read', 'write', 'feedback', 'admin'], ...options });
}

/** A request of the store's operator. */
export function operator(tenantId = TENANT): RequestContext {
  return { access: { ...LOCAL_OPERATOR, principal: { ...LOCAL_OPERATOR.principal, tenantId } } };
}
