import { describe, expect, test } from 'vitest';
import { type Environment, loadConfig } from './config.ts';

/** Without a configuration file. */
const load = (environment: Environment) => loadConfig({}, environment, () => undefined);

const TOKENS = {
  PALIMPSEST_JWT_JWKS_URL: 'https://id.example.com/jwks.json',
  PALIMPSEST_JWT_ISSUER: 'https://id.example.com',
  PALIMPSEST_JWT_AUDIENCE: 'palimpsest',
};

describe('identity', () => {
  test('nothing said: whoever reaches the server is its operator', () => {
    expect(load({}).identity).toEqual({ mode: 'local', tokens: null });
  });

  test('keys alone', () => {
    expect(load({ PALIMPSEST_AUTH: 'required' }).identity).toEqual({
      mode: 'required',
      tokens: null,
    });
  });

  test('how to read tokens says that identities are required', () => {
    const roles = {
      PALIMPSEST_JWT_SCOPES_BY_ROLE: '{"staff":["read","write"]}',
      PALIMPSEST_JWT_ALGORITHMS: 'RS256, ES256',
    };
    expect(load({ ...TOKENS, ...roles }).identity).toMatchObject({
      mode: 'required',
      tokens: {
        keys: { jwksUrl: TOKENS.PALIMPSEST_JWT_JWKS_URL },
        issuer: TOKENS.PALIMPSEST_JWT_ISSUER,
        audience: 'palimpsest',
        algorithms: ['RS256', 'ES256'],
        scopesByRole: { staff: ['read', 'write'] },
        userClaim: undefined,
      },
    });
  });

  test.each<[string, Environment]>([
    ['PALIMPSEST_AUTH is "none"; allowed: local, required', { PALIMPSEST_AUTH: 'none' }],
    ['nobody is asked for a token', { ...TOKENS, PALIMPSEST_AUTH: 'local' }],
    ['PALIMPSEST_JWT_AUDIENCE is missing', { ...TOKENS, PALIMPSEST_JWT_AUDIENCE: '' }],
    [
      'PALIMPSEST_JWT_JWKS_URL or PALIMPSEST_JWT_SECRET is missing, although PALIMPSEST_JWT_ISSUER is set',
      { PALIMPSEST_JWT_ISSUER: 'x' },
    ],
    ['two ways to check one token', { ...TOKENS, PALIMPSEST_JWT_SECRET: 'x'.repeat(32) }],
    ['PALIMPSEST_JWT_SCOPES_BY_ROLE is', { ...TOKENS, PALIMPSEST_JWT_SCOPES_BY_ROLE: '{"staff":["all"]}' }],
    ['PALIMPSEST_JWT_SCOPES_BY_ROLE is', { ...TOKENS, PALIMPSEST_JWT_SCOPES_BY_ROLE: '{' }],
  ])('refused: %s', (message, environment) => {
    expect(() => load(environment)).toThrow(message);
  });

  test('a secret is never repeated', () => {
    const secret = 'correct horse battery staple, twice over';
    try {
      load({ PALIMPSEST_JWT_SECRET: secret });
      expect.unreachable();
    } catch (error) {
      expect(String(error) + JSON.stringify(error)).not.toContain(secret);
      expect(String(error)).toContain('PALIMPSEST_JWT_ISSUER is missing');
    }
  });
});

describe('http', () => {
  test('origins, limits and proxies', () => {
    const environment = {
      PALIMPSEST_CORS_ORIGINS: 'https://a.example.com, http://localhost:5173',
      PALIMPSEST_RATE_LIMIT: '10/1',
      PALIMPSEST_TRUSTED_PROXIES: '10.0.0.0/8',
    };
    expect(load(environment).http).toMatchObject({
      corsOrigins: ['https://a.example.com', 'http://localhost:5173'],
      rateLimit: { requests: 10, windowSeconds: 1 },
      trustedProxies: ['10.0.0.0/8'],
    });
    expect(load({ PALIMPSEST_RATE_LIMIT: 'off' }).http.rateLimit).toBeNull();
    expect(load({}).http.rateLimit).toBeUndefined();
  });

  test.each<[string, Environment]>([
    ['PALIMPSEST_CORS_ORIGINS is "*"', { PALIMPSEST_CORS_ORIGINS: '*' }],
    [
      'PALIMPSEST_CORS_ORIGINS is "https://a.example.com/"',
      { PALIMPSEST_CORS_ORIGINS: 'https://a.example.com/' },
    ],
    ['PALIMPSEST_CORS_ORIGINS is "a.example.com"', { PALIMPSEST_CORS_ORIGINS: 'a.example.com' }],
    ['PALIMPSEST_RATE_LIMIT is "0/60"', { PALIMPSEST_RATE_LIMIT: '0/60' }],
    ['PALIMPSEST_RATE_LIMIT is "60"', { PALIMPSEST_RATE_LIMIT: '60' }],
  ])('refused: %s', (message, environment) => {
    expect(() => load(environment)).toThrow(message);
  });
});
