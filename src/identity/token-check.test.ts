import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusal, rejection } from '../../test/helpers/refusal.ts';
import type { TokenOptions } from '../core/identity.ts';
import { createTokenCheck } from './token-check.ts';

const NOW = Date.UTC(2026, 4, 2, 12);
const SECONDS = NOW / 1000;
const SECRET = 'a secret of more than thirty-two bytes';
const OPTIONS: TokenOptions = {
  keys: { sharedSecret: SECRET },
  issuer: 'https://issuer.example',
  audience: 'palimpsest',
};
const CLAIMS: JWTPayload = {
  iss: 'https://issuer.example',
  aud: 'palimpsest',
  sub: 'ada',
  exp: SECONDS + 60,
  tenant_id: 'acme',
  scope: 'openid read write',
  jti: 'token-1',
};

function sign(claims: JWTPayload, secret = SECRET, alg = 'HS256'): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret));
}

const check = (options: Partial<TokenOptions> = {}) =>
  createTokenCheck({ ...OPTIONS, ...options }, () => NOW);

async function messageOf(claims: JWTPayload, options: Partial<TokenOptions> = {}): Promise<string> {
  const refused = await rejection(check(options)(await sign(claims)));
  expect(refused.code).toBe('unauthenticated');
  return refused.message;
}

function without(name: string): JWTPayload {
  return Object.fromEntries(Object.entries(CLAIMS).filter(([claim]) => claim !== name));
}

describe('a token', () => {
  test('says which user of which tenant asks, and what for; other servers’ scopes are left out', async () => {
    expect(await check()(await sign(CLAIMS))).toEqual({
      principal: { tenantId: 'acme', userId: 'ada', isAdmin: false, isTenantWide: false },
      scopes: ['read', 'write'],
      keyId: null,
      tokenId: 'token-1',
      agentId: null,
    });
  });

  test('can name its claims otherwise: by a dotted path, or by a name that holds dots itself', async () => {
    const options = {
      userClaim: 'email',
      tenantClaim: 'https://example.org/tenant',
      scopeClaim: 'realm_access.roles',
      agentClaim: 'act.agent',
      scopesByRole: { 'memory-admin': ['admin', 'read'], viewer: ['read'] },
    } as const;
    const token = await sign({
      ...CLAIMS,
      email: 'ada@example.org',
      'https://example.org/tenant': 'other',
      realm_access: { roles: ['memory-admin', 'viewer', 'write', 7] },
      act: { agent: 'alexandra' },
    });
    const { principal, scopes, agentId } = await check(options)(token);
    expect(principal).toEqual({
      tenantId: 'other',
      userId: 'ada@example~2Eorg',
      isAdmin: true,
      isTenantWide: false,
    });
    // "write" is a scope here, but the roles say what stands for what.
    expect(scopes).toEqual(['read', 'admin']);
    expect(agentId).toBe('alexandra');
  });

  test('without an agent is its user’s own; without a tenant it gets the default one, where there is one', async () => {
    const own = await check({ agentClaim: 'agent', defaultTenant: 'default' })(
      await sign(without('tenant_id')),
    );
    expect(own.agentId).toBeNull();
    expect(own.principal.tenantId).toBe('default');
  });

  test('without any scope is nobody’s permission', async () => {
    expect((await check()(await sign(without('scope')))).scopes).toEqual([]);
  });

  test('is good for as long after its expiry as clocks may differ, and no longer', async () => {
    const at = (exp: number) => sign({ ...CLAIMS, exp });
    // exp + tolerance > now: 12:00:00 − 29 s + 30 s.
    await check()(await at(SECONDS - 29));
    await rejection(check()(await at(SECONDS - 30)));
    await rejection(check({ clockToleranceSeconds: 0 })(await at(SECONDS)));
    await check({ clockToleranceSeconds: 0 })(await at(SECONDS + 1));
  });
});

describe('refused, with a reason:', () => {
  test.each([
    ['expired', { ...CLAIMS, exp: SECONDS - 3600 }, /has expired/],
    ['without an expiry', without('exp'), /has no claim "exp"/],
    ['of another issuer', { ...CLAIMS, iss: 'https://evil.example' }, /claim "iss" that is not accepted/],
    ['for another audience', { ...CLAIMS, aud: 'billing' }, /claim "aud" that is not accepted/],
    ['not valid yet', { ...CLAIMS, nbf: SECONDS + 3600 }, /claim "nbf" that is not accepted/],
    ['without a user', without('sub'), /claim "sub" of the bearer token is missing/],
    ['without a tenant', without('tenant_id'), /claim "tenant_id" of the bearer token is missing/],
    ['with a blank tenant', { ...CLAIMS, tenant_id: ' ' }, /claim "tenant_id" .* blank/],
    ['with a tenant that is no text', { ...CLAIMS, tenant_id: 7 }, /claim "tenant_id" .* no text/],
    ['with a NUL in the user', { ...CLAIMS, sub: 'a\0b' }, /claim "sub" .* no text/],
    ['with a user too long for a segment', { ...CLAIMS, sub: '|'.repeat(43) }, /claim "sub" .* too long/],
  ])('%s', async (_, claims, message) => {
    expect(await messageOf(claims)).toMatch(message);
  });

  test('signed by somebody else, altered, unsigned, of another algorithm, or no token at all', async () => {
    const good = await sign(CLAIMS);
    const [head, , signature] = good.split('.');
    const payload = Buffer.from(JSON.stringify({ ...CLAIMS, sub: 'root' })).toString('base64url');
    const forged = {
      'another secret': await sign(CLAIMS, 'another secret of more than thirty-two bytes'),
      altered: [head, payload, signature].join('.'),
      unsigned: new UnsecuredJWT(CLAIMS).encode(),
      'another algorithm': await sign(CLAIMS, SECRET, 'HS512'),
      'no token': 'a.b.c',
      nothing: 'x',
      huge: 'x'.repeat(20_000),
    };
    for (const [what, token] of Object.entries(forged)) {
      const refused = await rejection(check()(token));
      expect(refused.code, what).toBe('unauthenticated');
      expect(JSON.stringify([refused.message, refused.details]), what).not.toContain(payload);
    }
  });

  test('a claim of the prototype is no claim', async () => {
    expect(await messageOf(CLAIMS, { tenantClaim: 'constructor.name' })).toMatch(/is missing/);
  });
});

describe('with a key set', () => {
  let server: Server;
  let jwksUrl: string;
  let answer: { status: number; body: string };
  let requests = 0;
  let privateKey: CryptoKey;

  beforeAll(async () => {
    const pair = await generateKeyPair('ES256');
    privateKey = pair.privateKey;
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
    answer = { status: 200, body: JSON.stringify({ keys: [jwk] }) };
    server = createServer((_request, response) => {
      requests += 1;
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
  });
  afterAll(() => {
    server.close();
  });

  const signed = (kid = 'k1') =>
    new SignJWT(CLAIMS).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);

  test('a token signed by one of its keys is good, and the set is fetched once', async () => {
    const checkToken = check({ keys: { jwksUrl } });
    requests = 0;
    for (let request = 0; request < 3; request += 1) {
      expect((await checkToken(await signed())).principal.userId).toBe('ada');
    }
    expect(requests).toBe(1);
  });

  test('an unknown key is the token’s fault', async () => {
    expect((await rejection(check({ keys: { jwksUrl } })(await signed('k2')))).code).toBe('unauthenticated');
  });

  test('a token signed with the public key as if it were a secret is refused (algorithm confusion)', async () => {
    const token = await sign(CLAIMS, answer.body);
    expect((await rejection(check({ keys: { jwksUrl } })(token))).message).toMatch(/algorithm/);
  });

  test.each([
    [500, '{}'],
    [200, 'not json'],
    [200, '{"keys":7}'],
  ])(
    'a set that can not be had (%i %s) is nobody’s refusal: 503, to be tried again',
    async (status, body) => {
      const good = answer;
      answer = { status, body };
      try {
        const failed = await rejection(check({ keys: { jwksUrl } })(await signed()));
        expect(failed.code).toBe('identity_unavailable');
        expect(failed.retryAfterSeconds).toBeGreaterThan(0);
      } finally {
        answer = good;
      }
    },
  );
});

describe('a configuration that would be unsafe is refused at the start:', () => {
  test.each([
    ['a short secret', { keys: { sharedSecret: 'short' } }, /shared_secret is "5 bytes"/],
    ['a key set without TLS', { keys: { jwksUrl: 'http://issuer.example/keys' } }, /jwks_url/],
    ['no URL', { keys: { jwksUrl: 'nonsense' } }, /jwks_url/],
    ['a public-key algorithm with a secret', { algorithms: ['RS256'] }, /algorithms is "RS256"/],
    ['no signature', { algorithms: ['HS256', 'none'] }, /algorithms/],
    ['no algorithm', { algorithms: [] }, /algorithms/],
    [
      'a secret’s algorithm with a key set',
      { keys: { jwksUrl: 'https://issuer.example/keys' }, algorithms: ['HS256'] },
      /algorithms/,
    ],
    ['an hour of tolerance', { clockToleranceSeconds: 3600 }, /clock_tolerance/],
    ['no issuer', { issuer: '' }, /issuer/],
    ['no audience', { audience: '' }, /audience/],
  ])('%s', (_, options, message) => {
    const refused = refusal(() => check(options));
    expect(refused.code).toBe('invalid_config');
    expect(refused.message).toMatch(message);
  });

  test('and the secret is not repeated', () => {
    const refused = refusal(() => check({ keys: { sharedSecret: 'hunter2' } }));
    expect(JSON.stringify([refused.message, refused.details])).not.toContain('hunter2');
  });
});
