import type { Identity } from '../core/identity.ts';
import type { RequestContext } from './request-context.ts';

/**
 * The context of a request whose asker has been established. Every use case checks it: the scopes, and that an
 * identity bound to one agent names no other (a request that names none acts for that agent).
 */
export function identifiedContext(
  identity: Identity,
  request: Pick<RequestContext, 'subject' | 'origin' | 'detail'> = {},
): RequestContext {
  const { agentId } = identity;
  return {
    ...request,
    access: { principal: identity.principal, readGrants: [], writeGrants: [] },
    scopes: identity.scopes,
    boundAgentId: agentId,
    // A subject that names no agent has the key all the same, undefined: a spread alone would unbind the identity.
    subject:
      agentId === null
        ? request.subject
        : { ...request.subject, agentId: request.subject?.agentId ?? agentId },
  };
}
