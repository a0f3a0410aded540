import type { PalimpsestError } from '../core/errors.ts';
import { KEY_SCOPES, type KeyScope } from '../core/governance.ts';
import type { TokenKeySource, TokenOptions } from '../core/identity.ts';
import { json, list, secret, text, word } from './form.ts';
import { invalidConfig } from './invalid-config.ts';
import { defineSettings, type Found, type ReadSetting } from './setting.ts';

/** How the server learns who asks. */
export interface IdentityConfig {
  /**
   * `local`: whoever reaches the server is its operator, which only an address of this machine allows. `required`:
   * every request shows an API key or, where `tokens` is set, a bearer token. Default `local`, with `tokens`
   * `required`.
   */
  readonly mode: 'local' | 'required';
  /** How bearer tokens are read; null: none is accepted. */
  readonly tokens: TokenOptions | null;
}

export const IDENTITY_SETTINGS = defineSettings({
  mode: {
    key: 'identity.mode',
    variable: 'PALIMPSEST_AUTH',
    form: word(['local', 'required']),
    meaning:
      '`local`: whoever reaches the server is its operator, on this machine only. `required`: every request shows an API key or a bearer token.',
    standard: '`local`; `required` where tokens are read',
  },
  jwksUrl: {
    key: 'identity.jwt.jwks_url',
    variable: 'PALIMPSEST_JWT_JWKS_URL',
    form: text('the URL of a JSON Web Key Set'),
    meaning: 'Keys that bearer tokens are checked with.',
    standard: 'none',
  },
  sharedSecret: {
    key: null,
    variable: 'PALIMPSEST_JWT_SECRET',
    form: secret('a secret of at least 32 bytes'),
    meaning: 'A secret shared with the issuer of bearer tokens, instead of keys.',
    standard: 'none',
  },
  issuer: {
    key: 'identity.jwt.issuer',
    variable: 'PALIMPSEST_JWT_ISSUER',
    form: text('the iss of every token'),
    meaning: 'The exact `iss` of every token.',
    standard: 'none: needed where tokens are read',
  },
  audience: {
    key: 'identity.jwt.audience',
    variable: 'PALIMPSEST_JWT_AUDIENCE',
    form: text('what aud must hold'),
    meaning: 'What `aud` must hold.',
    standard: 'none: needed where tokens are read',
  },
  algorithms: {
    key: 'identity.jwt.algorithms',
    variable: 'PALIMPSEST_JWT_ALGORITHMS',
    form: list(text('names of algorithms such as ES256')),
    meaning: 'Algorithms that a token may be signed with.',
    standard: '`HS256` with a secret; `RS256`, `ES256`, `EdDSA` with keys',
  },
  userClaim: {
    key: 'identity.jwt.user_claim',
    variable: 'PALIMPSEST_JWT_USER_CLAIM',
    form: text('the name of a claim, or a dotted path'),
    meaning: 'Claim of the user.',
    standard: '`sub`',
  },
  tenantClaim: {
    key: 'identity.jwt.tenant_claim',
    variable: 'PALIMPSEST_JWT_TENANT_CLAIM',
    form: text('the name of a claim, or a dotted path'),
    meaning: 'Claim of the tenant.',
    standard: '`tenant_id`',
  },
  defaultTenant: {
    key: 'identity.jwt.default_tenant',
    variable: 'PALIMPSEST_JWT_DEFAULT_TENANT',
    form: text('the id of a tenant'),
    meaning: 'Tenant of tokens without that claim.',
    standard: 'none: such tokens are refused',
  },
  scopeClaim: {
    key: 'identity.jwt.scope_claim',
    variable: 'PALIMPSEST_JWT_SCOPE_CLAIM',
    form: text('the name of a claim, or a dotted path'),
    meaning: 'Claim of the scopes or roles.',
    standard: '`scope`',
  },
  scopesByRole: {
    key: 'identity.jwt.scopes_by_role',
    variable: 'PALIMPSEST_JWT_SCOPES_BY_ROLE',
    form: json(`a JSON object of lists of ${KEY_SCOPES.join(', ')}`, isScopesByRole),
    meaning:
      'What each role of the issuer may be used for here, such as `{"memory-admins": ["admin"], "staff": ["read", "write"]}`.',
    standard: 'a role is the scope of its name',
  },
  agentClaim: {
    key: 'identity.jwt.agent_claim',
    variable: 'PALIMPSEST_JWT_AGENT_CLAIM',
    form: text('the name of a claim, or a dotted path'),
    meaning: 'Claim of the one agent that a token may act for.',
    standard: 'none is read',
  },
  apiKey: {
    key: null,
    variable: 'PALIMPSEST_API_KEY',
    form: secret('an API key'),
    meaning: 'Shown by `palimpsest mcp` to a server that holds the data directory and asks who asks.',
    standard: 'nothing is shown',
  },
});

/** Secrets that somebody might write into the file. */
export const REFUSED_KEYS = {
  'http.metrics_token': 'A secret does not belong into this file: set PALIMPSEST_METRICS_TOKEN.',
  'identity.jwt.secret': 'A secret does not belong into this file: set PALIMPSEST_JWT_SECRET.',
  'identity.api_key': 'A secret does not belong into this file: set PALIMPSEST_API_KEY.',
};

/** @throws PalimpsestError `invalid_config` */
export function identityConfig(read: ReadSetting): IdentityConfig {
  const tokens = tokenOptions(read);
  const found = read(IDENTITY_SETTINGS.mode);
  const mode = found.value ?? (tokens === null ? 'local' : 'required');
  if (mode === 'required' || tokens === null) return { mode, tokens };
  throw invalidConfig(
    `${found.name} is local, where nobody is asked for a token, and identity.jwt says how to read tokens.`,
    'local',
    'required',
    `Set ${found.name} to required, or leave out how to read tokens.`,
  );
}

const TOKEN_SETTINGS = Object.values(IDENTITY_SETTINGS).filter(({ variable }) =>
  variable.startsWith('PALIMPSEST_JWT_'),
);

function tokenOptions(read: ReadSetting): TokenOptions | null {
  const keys = tokenKeys(read);
  if (keys === null) {
    const lost = TOKEN_SETTINGS.map((setting): Found<unknown> => read<unknown>(setting)).find(
      ({ value }) => value !== undefined,
    );
    if (lost === undefined) return null;
    throw missing('PALIMPSEST_JWT_JWKS_URL or PALIMPSEST_JWT_SECRET', `${lost.name} is set`);
  }
  return {
    keys,
    issuer: required(read(IDENTITY_SETTINGS.issuer)),
    audience: required(read(IDENTITY_SETTINGS.audience)),
    algorithms: read(IDENTITY_SETTINGS.algorithms).value,
    userClaim: read(IDENTITY_SETTINGS.userClaim).value,
    tenantClaim: read(IDENTITY_SETTINGS.tenantClaim).value,
    defaultTenant: read(IDENTITY_SETTINGS.defaultTenant).value,
    scopeClaim: read(IDENTITY_SETTINGS.scopeClaim).value,
    scopesByRole: read(IDENTITY_SETTINGS.scopesByRole).value,
    agentClaim: read(IDENTITY_SETTINGS.agentClaim).value,
  };
}

function tokenKeys(read: ReadSetting): TokenKeySource | null {
  const jwksUrl = read(IDENTITY_SETTINGS.jwksUrl);
  const sharedSecret = read(IDENTITY_SETTINGS.sharedSecret);
  if (jwksUrl.value !== undefined && sharedSecret.value !== undefined) {
    throw invalidConfig(
      `${jwksUrl.name} and ${sharedSecret.name} are two ways to check one token.`,
      'both',
      'one of them',
    );
  }
  if (jwksUrl.value !== undefined) return { jwksUrl: jwksUrl.value };
  return sharedSecret.value === undefined ? null : { sharedSecret: sharedSecret.value };
}

function required({ value, name }: Found<string>): string {
  if (value !== undefined) return value;
  throw missing(name, 'tokens are to be read');
}

function missing(name: string, reason: string): PalimpsestError {
  return invalidConfig(`${name} is missing, although ${reason}.`, '', name);
}

function isScopesByRole(value: object): value is Record<string, KeyScope[]> {
  const isScopes = (scopes: unknown) =>
    Array.isArray(scopes) && scopes.every((scope) => KEY_SCOPES.some((known) => known === scope));
  return Object.values(value).every(isScopes);
}
