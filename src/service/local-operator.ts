import { KEY_SCOPES } from '../core/governance.ts';
import type { Identity } from '../core/identity.ts';
import type { Access } from '../core/types.ts';

export const DEFAULT_TENANT = 'default';
export const LOCAL_USER = 'local';

/**
 * Who acts where there is no identity to establish: the opened library, the command line and the server on a
 * loopback address. Whoever can reach those holds the data anyway, so it reaches the whole tenant.
 */
export const LOCAL_OPERATOR: Access = {
  principal: { tenantId: DEFAULT_TENANT, userId: LOCAL_USER, isAdmin: true, isTenantWide: true },
  readGrants: [],
  writeGrants: [],
};

/** The same as an identity, where a server on a loopback address has no other. */
export const LOCAL_IDENTITY: Identity = {
  principal: LOCAL_OPERATOR.principal,
  scopes: KEY_SCOPES,
  keyId: null,
  tokenId: null,
  agentId: null,
};
