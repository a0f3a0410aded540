import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { PalimpsestError } from '../core/errors.ts';
import type { Identify } from './who-asks.ts';

export interface RateLimitOptions {
  /** Requests of one key, token's user or (without either) address in a window, at least 1. */
  readonly requests: number;
  /** Length of the window in seconds, at least 1. */
  readonly windowSeconds: number;
}

/**
 * Limits how often each asker may ask, and tells them in RateLimit headers. Requests whose credential is refused
 * are counted by their address.
 *
 * The counts are this process' own: several processes behind one address each allow the whole limit.
 *
 * @returns The way to establish who asks, with refusals counted.
 */
export async function limitRates(
  api: FastifyInstance,
  { requests, windowSeconds }: RateLimitOptions,
  identify: Identify,
): Promise<Identify> {
  await api.register(rateLimit, {
    max: requests,
    timeWindow: windowSeconds * 1000,
    enableDraftSpec: true,
    keyGenerator: askerKey,
    errorResponseBuilder: (_request, { ttl }) => tooMany(requests, windowSeconds, ttl),
  });
  const countRefusal = api.createRateLimit({
    keyGenerator: (request: FastifyRequest) => `refused ${request.ip}`,
  });
  return async (request) => {
    const before = await countRefusal(request, { increment: false });
    if (!before.isAllowed && before.remaining <= 0) throw tooMany(requests, windowSeconds, before.ttl);
    try {
      return await identify(request);
    } catch (error) {
      if (PalimpsestError.isInstance(error) && error.code === 'unauthenticated') await countRefusal(request);
      throw error;
    }
  };
}

function askerKey(request: FastifyRequest): string {
  const { identity } = request;
  if (identity === null) return `address ${request.ip}`;
  if (identity.keyId !== null) return `key ${identity.keyId}`;
  return JSON.stringify(['user', identity.principal.tenantId, identity.principal.userId]);
}

function tooMany(requests: number, windowSeconds: number, ttlMs: number): PalimpsestError {
  const retryAfterSeconds = Math.max(1, Math.ceil(ttlMs / 1000));
  return new PalimpsestError(
    'rate_limited',
    `More than ${requests} requests in ${windowSeconds} s. Try again in ${retryAfterSeconds} s.`,
    { details: [{ allowed: `${requests} requests in ${windowSeconds} s` }], retryAfterSeconds },
  );
}
