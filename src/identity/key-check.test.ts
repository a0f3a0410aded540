import { beforeEach, expect, test } from 'vitest';
import { rejection } from '../../test/helpers/refusal.ts';
import { PalimpsestError } from '../core/errors.ts';
import type { ApiKey, KeyStore, StoredKey } from '../core/governance.ts';
import { createKeyCheck } from './key-check.ts';
import { createKeySecret } from './key-secret.ts';

const NOON = Date.UTC(2026, 4, 2, 12);

let now: number;
let lookUps: number;
let touches: number;
let stored: StoredKey[];
let findFails: Error | null;
let touchFails: Error | null;

beforeEach(() => {
  now = NOON;
  lookUps = 0;
  touches = 0;
  stored = [];
  findFails = null;
  touchFails = null;
});

/** The two methods a check needs; any other would be a mistake. */
const keys = {
  async findKeys(prefix: string): Promise<StoredKey[]> {
    lookUps += 1;
    if (findFails !== null) throw findFails;
    return stored.filter((key) => key.prefix === prefix);
  },
  async touchKey(_key: ApiKey): Promise<void> {
    touches += 1;
    if (touchFails !== null) throw touchFails;
  },
} satisfies Partial<KeyStore> as unknown as KeyStore;

function makeKey(overrides: Partial<StoredKey> = {}): string {
  const { secret, prefix, secretHash } = createKeySecret();
  stored.push({
    id: '01900000-0000-7000-8000-000000000001',
    tenantId: 'acme',
    userId: 'ada',
    name: 'laptop',
    prefix,
    secretHash,
    scopes: ['read', 'write'],
    createdAt: new Date(NOON),
    createdBy: 'root',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...overrides,
  });
  return secret;
}

const check = (options: { cacheMs?: number; onBackgroundError?: (error: unknown) => void } = {}) =>
  createKeyCheck({ keys, clock: () => now, ...options });

test('a key says which user of which tenant asks, and what for', async () => {
  expect(await check()(makeKey())).toEqual({
    principal: { tenantId: 'acme', userId: 'ada', isAdmin: false, isTenantWide: false },
    scopes: ['read', 'write'],
    keyId: '01900000-0000-7000-8000-000000000001',
    tokenId: null,
    agentId: null,
  });
});

test('the scope admin alone makes an administrator, who reads nothing by it', async () => {
  const { principal, scopes } = await check()(makeKey({ scopes: ['admin'] }));
  expect(principal.isAdmin).toBe(true);
  expect(principal.isTenantWide).toBe(false);
  expect(scopes).toEqual(['admin']);
});

test('a wrong secret under a right prefix, an unknown prefix and a text of no form answer alike', async () => {
  const secret = makeKey();
  const last = secret.at(-1) === 'A' ? 'B' : 'A';
  const refusals = [];
  for (const credential of [secret.slice(0, -1) + last, createKeySecret().secret, 'pal_nonsense']) {
    const { code, message, details } = await rejection(check()(credential));
    refusals.push({ code, message, details });
  }
  expect(refusals[0]?.code).toBe('unauthenticated');
  expect(refusals[1]).toEqual(refusals[0]);
  expect(refusals[2]).toEqual(refusals[0]);
});

test('of two keys with one prefix, each is told by its secret', async () => {
  const secret = makeKey();
  const [first] = stored;
  if (first === undefined) throw new Error('no key was made');
  const twin = { ...first, userId: 'bob', secretHash: 'f'.repeat(64) };
  stored = [twin, first, twin];
  expect((await check()(secret)).principal.userId).toBe('ada');
});

test('an expired key is refused from its very time on, also where it was just verified', async () => {
  const secret = makeKey({ expiresAt: new Date(NOON + 1000) });
  const checkKey = check();
  now = NOON + 999;
  await checkKey(secret);
  now = NOON + 1000;
  expect((await rejection(checkKey(secret))).message).toMatch(/has expired/);
  expect(lookUps).toBe(1);
});

test('a revoked key is good for as long as it was verified, 5 seconds, and no longer', async () => {
  const secret = makeKey();
  const checkKey = check();
  await checkKey(secret);
  stored = stored.map((key) => ({ ...key, revokedAt: new Date(now) }));
  now += 4_999;
  await checkKey(secret);
  now += 1;
  expect((await rejection(checkKey(secret))).message).toMatch(/has been revoked/);
});

test('without a cache every request asks, and a revocation holds at once', async () => {
  const secret = makeKey();
  const checkKey = check({ cacheMs: 0 });
  await checkKey(secret);
  await checkKey(secret);
  expect(lookUps).toBe(2);
  stored = stored.map((key) => ({ ...key, revokedAt: new Date(now) }));
  expect((await rejection(checkKey(secret))).code).toBe('unauthenticated');
});

test('a verified key is looked up once in 5 seconds, a refused one each time', async () => {
  const secret = makeKey();
  const checkKey = check();
  for (let request = 0; request < 10; request += 1) await checkKey(secret);
  expect(lookUps).toBe(1);
  const unknown = createKeySecret().secret;
  await rejection(checkKey(unknown));
  await rejection(checkKey(unknown));
  expect(lookUps).toBe(3);
});

test('a use is noted where the last is a minute old', async () => {
  await check()(makeKey({ lastUsedAt: new Date(NOON - 59_999) }));
  expect(touches).toBe(0);
  await check()(makeKey({ lastUsedAt: new Date(NOON - 60_000) }));
  expect(touches).toBe(1);
});

test('a use that can not be noted fails no request', async () => {
  touchFails = new Error('disk full');
  const heard: unknown[] = [];
  const identity = await check({ onBackgroundError: (error) => heard.push(error) })(makeKey());
  expect(identity.principal.userId).toBe('ada');
  await Promise.resolve();
  expect(heard).toEqual([touchFails]);
});

test('a database that does not answer is no refusal', async () => {
  findFails = new PalimpsestError('store_unavailable', 'The connection to the database failed.');
  expect((await rejection(check()(makeKey()))).code).toBe('store_unavailable');
});
