import { timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { KeyStore, StoredKey } from '../core/governance.ts';
import type { Identity } from '../core/identity.ts';
import type { Clock } from '../core/ports.ts';
import { type CredentialCheck, unauthenticated } from './authenticator.ts';
import { hashKey, prefixOfKey } from './key-secret.ts';

export interface KeyCheckOptions {
  readonly keys: KeyStore;
  readonly clock: Clock;
  /** Told that a key's last use could not be noted. Default: nobody is. */
  readonly onBackgroundError?: ((error: unknown) => void) | undefined;
  /**
   * Milliseconds a verified key is taken as it was, so that not every request asks the database; so long can a
   * revoked key still be good. Default 5,000; 0 asks every time.
   */
  readonly cacheMs?: number | undefined;
}

export const DEFAULT_KEY_CACHE_MS = 5_000;
const CACHED_KEYS = 10_000;
/** The store notes uses to the minute, so asking it more often changes nothing. */
const TOUCH_MS = 60_000;
/** What a key is compared with where none has its prefix: as much work, and never equal to a SHA-256 of anything known. */
const NO_HASH = '0'.repeat(64);

interface CachedKey {
  readonly key: StoredKey;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Knows API keys. */
export function createKeyCheck(options: KeyCheckOptions): CredentialCheck {
  const { keys, clock, cacheMs = DEFAULT_KEY_CACHE_MS } = options;
  // By the hash of the whole key: only whoever has the secret reaches an entry.
  const cache = new LRUCache<string, CachedKey>({ max: CACHED_KEYS });
  return async (credential) => {
    const now = clock();
    const hash = hashKey(credential);
    const cached = cache.get(hash);
    if (cached !== undefined && now < cached.until) return identityOf(cached.key, now);
    const key = await findKey(keys, credential, hash);
    if (key === null) {
      cache.delete(hash);
      throw unauthenticated('This API key is unknown.', 'Ask an administrator for a key.');
    }
    cache.set(hash, { key, until: now + cacheMs });
    const identity = identityOf(key, now);
    touch(options, key, now);
    return identity;
  };
}

/** The key with this prefix and hash. A prefix that is nobody's takes as long as a wrong secret. */
async function findKey(keys: KeyStore, credential: string, hash: string): Promise<StoredKey | null> {
  const prefix = prefixOfKey(credential);
  const candidates = prefix === null ? [] : await keys.findKeys(prefix);
  let found: StoredKey | null = null;
  for (const candidate of candidates) {
    if (isSameHash(candidate.secretHash, hash)) found = candidate;
  }
  if (candidates.length === 0) isSameHash(NO_HASH, hash);
  return found;
}

function isSameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}

/** Who asks with a key that was found. Only its holder hears why it is no longer good. */
function identityOf(key: StoredKey, now: number): Identity {
  if (key.revokedAt !== null && key.revokedAt.getTime() <= now) {
    throw unauthenticated('This API key has been revoked.', 'Ask an administrator for a new one.');
  }
  if (key.expiresAt !== null && key.expiresAt.getTime() <= now) {
    throw unauthenticated('This API key has expired.', 'Ask an administrator for a new one.');
  }
  return {
    principal: {
      tenantId: key.tenantId,
      userId: key.userId,
      isAdmin: key.scopes.includes('admin'),
      isTenantWide: false,
    },
    scopes: key.scopes,
    keyId: key.id,
    tokenId: null,
    agentId: null,
  };
}

/** Behind the answer: a request is not refused because its key's use could not be noted. */
function touch({ keys, onBackgroundError }: KeyCheckOptions, key: StoredKey, now: number): void {
  if (key.lastUsedAt !== null && now - key.lastUsedAt.getTime() < TOUCH_MS) return;
  keys.touchKey(key, now).catch((error: unknown) => onBackgroundError?.(error));
}
