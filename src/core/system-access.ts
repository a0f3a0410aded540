import type { Access } from './types.ts';

/** The server's own work on a tenant: never handed to a request. */
export function systemAccess(tenantId: string): Access {
  return {
    principal: { tenantId, userId: 'system', isAdmin: false, isTenantWide: false },
    readGrants: [],
    writeGrants: [],
  };
}
