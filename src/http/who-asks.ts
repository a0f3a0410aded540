import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readSubjectHeaders } from '../contract/request-headers.ts';
import type { RouteDefinition } from '../contract/routes/route.ts';
import { PalimpsestError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';
import type { GovernanceService } from '../service/governance-service.ts';
import { identifiedContext } from '../service/identified-context.ts';
import type { RequestContext } from '../service/request-context.ts';
import { refuseRepeatedHeaders } from './repeated-headers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks: set before any route of the API runs. */
    identity: Identity | null;
    /** The same with what the request says about how and for whom it is made. */
    context: RequestContext | null;
  }
}

/**
 * Establishes who asks from a request's headers. Throws `unauthenticated` or `forbidden` to refuse it.
 */
export type Identify = (request: FastifyRequest) => Identity | Promise<Identity>;

/** Establishes who asks before anything else of a request is read. */
export function establishWhoAsks(api: FastifyInstance, identify: Identify): void {
  api.decorateRequest('identity', null);
  api.decorateRequest('context', null);
  api.addHook('onRequest', async (request) => {
    refuseRepeatedHeaders(request.raw.rawHeaders);
    const identity = await identify(request);
    request.identity = identity;
    request.context = identifiedContext(identity, {
      ...readSubjectHeaders(request.headers),
      detail: { request_id: request.id },
    });
  });
}

/** Who asks, of a request that has passed the hook above. */
export function askerOf(request: FastifyRequest): { identity: Identity; context: RequestContext } {
  const { identity, context } = request;
  if (identity === null || context === null) throw new Error('A route runs before it is known who asks.');
  return { identity, context };
}

/**
 * Refuses what the credential is not for before the body is read. The use case checks it again: other faces have
 * no routes.
 *
 * @throws PalimpsestError `forbidden`
 */
export function requireScope(
  request: FastifyRequest,
  route: RouteDefinition,
  governance: GovernanceService,
): void {
  const { identity, context } = askerOf(request);
  const { scope } = route;
  if (scope === null || identity.scopes.includes(scope)) return;
  const operation = `${route.method} ${route.path}`;
  const reason = `lacks the scope "${scope}"`;
  governance.recordRefusal(context, { operation, reason });
  throw new PalimpsestError('forbidden', `This credential is not for ${operation}: it ${reason}.`, {
    details: [
      {
        path: 'scopes',
        got: [...identity.scopes],
        allowed: scope,
        hint: `Use a key with the scope "${scope}".`,
      },
    ],
  });
}
