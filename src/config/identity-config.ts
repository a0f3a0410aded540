import { excerpt, type PalimpsestError } from '../core/errors.ts';
import { KEY_SCOPES, type KeyScope } from '../core/governance.ts';
import type { TokenKeySource, TokenOptions } from '../core/identity.ts';
import { invalidConfig, listOf, oneOf, type Setting, type Settings } from './setting.ts';

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

const MODES = ['local', 'required'] as const;

export const IDENTITY_NAMES = [
  'PALIMPSEST_AUTH',
  'PALIMPSEST_JWT_JWKS_URL',
  'PALIMPSEST_JWT_SECRET',
  'PALIMPSEST_JWT_ISSUER',
  'PALIMPSEST_JWT_AUDIENCE',
  'PALIMPSEST_JWT_ALGORITHMS',
  'PALIMPSEST_JWT_USER_CLAIM',
  'PALIMPSEST_JWT_TENANT_CLAIM',
  'PALIMPSEST_JWT_DEFAULT_TENANT',
  'PALIMPSEST_JWT_SCOPE_CLAIM',
  'PALIMPSEST_JWT_SCOPES_BY_ROLE',
  'PALIMPSEST_JWT_AGENT_CLAIM',
] as const;

type IdentitySettings = Settings<(typeof IDENTITY_NAMES)[number]>;

/** @throws PalimpsestError `invalid_config` */
export function identityConfig(setting: IdentitySettings): IdentityConfig {
  const tokens = tokenOptions(setting);
  const mode = oneOf(MODES, setting('PALIMPSEST_AUTH')) ?? (tokens === null ? 'local' : 'required');
  if (mode === 'required' || tokens === null) return { mode, tokens };
  throw invalidConfig(
    'PALIMPSEST_AUTH is local, where nobody is asked for a token, and PALIMPSEST_JWT_… says how to read tokens.',
    'local',
    'required',
    'Set PALIMPSEST_AUTH to required, or leave PALIMPSEST_JWT_… out.',
  );
}

function tokenOptions(setting: IdentitySettings): TokenOptions | null {
  const keys = tokenKeys(setting);
  if (keys === null) {
    const lost = IDENTITY_NAMES.filter((name) => name.startsWith('PALIMPSEST_JWT_')).find(
      (name) => setting(name).value !== undefined,
    );
    if (lost === undefined) return null;
    throw missing('PALIMPSEST_JWT_JWKS_URL or PALIMPSEST_JWT_SECRET', `${lost} is set`);
  }
  const algorithms = listOf(setting('PALIMPSEST_JWT_ALGORITHMS'));
  return {
    keys,
    issuer: required(setting('PALIMPSEST_JWT_ISSUER')),
    audience: required(setting('PALIMPSEST_JWT_AUDIENCE')),
    algorithms: algorithms.length === 0 ? undefined : algorithms,
    userClaim: setting('PALIMPSEST_JWT_USER_CLAIM').value,
    tenantClaim: setting('PALIMPSEST_JWT_TENANT_CLAIM').value,
    defaultTenant: setting('PALIMPSEST_JWT_DEFAULT_TENANT').value,
    scopeClaim: setting('PALIMPSEST_JWT_SCOPE_CLAIM').value,
    scopesByRole: scopesByRole(setting('PALIMPSEST_JWT_SCOPES_BY_ROLE')),
    agentClaim: setting('PALIMPSEST_JWT_AGENT_CLAIM').value,
  };
}

function tokenKeys(setting: IdentitySettings): TokenKeySource | null {
  const { value: jwksUrl } = setting('PALIMPSEST_JWT_JWKS_URL');
  const { value: sharedSecret } = setting('PALIMPSEST_JWT_SECRET');
  if (jwksUrl !== undefined && sharedSecret !== undefined) {
    throw invalidConfig(
      'PALIMPSEST_JWT_JWKS_URL and PALIMPSEST_JWT_SECRET are two ways to check one token.',
      'both',
      'one of them',
      undefined,
    );
  }
  if (jwksUrl !== undefined) return { jwksUrl };
  return sharedSecret === undefined ? null : { sharedSecret };
}

function required({ value, name }: Setting): string {
  if (value !== undefined) return value;
  throw missing(name, 'tokens are to be read');
}

function missing(name: string, reason: string): PalimpsestError {
  return invalidConfig(`${name} is missing, although ${reason}.`, '', name, undefined);
}

/** `{"memory-admins": ["admin"], "staff": ["read", "write", "feedback"]}`. */
function scopesByRole({ value, name }: Setting): Record<string, KeyScope[]> | undefined {
  if (value === undefined) return undefined;
  const allowed = `a JSON object of lists of ${KEY_SCOPES.join(', ')}`;
  const parsed = parsedJson(value);
  if (!isScopesByRole(parsed)) {
    throw invalidConfig(`${name} has ${excerpt(value)}; allowed: ${allowed}.`, value, allowed, undefined);
  }
  return parsed;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function isScopesByRole(value: unknown): value is Record<string, KeyScope[]> {
  const isScopes = (scopes: unknown) =>
    Array.isArray(scopes) && scopes.every((scope) => KEY_SCOPES.some((known) => known === scope));
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(isScopes)
  );
}
