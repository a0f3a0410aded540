import { excerpt, PalimpsestError } from '../core/errors.ts';
import { KEY_SCOPES } from '../core/governance.ts';
import type { TokenKeySource, TokenOptions } from '../core/identity.ts';

/** Token options complete and checked. */
export interface CheckedTokenOptions extends TokenOptions {
  readonly algorithms: readonly TokenAlgorithm[];
  readonly clockToleranceSeconds: number;
  readonly userClaim: string;
  readonly tenantClaim: string;
  readonly scopeClaim: string;
}

/** With a shared secret: whoever can check a token can make one. */
const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;
const KEY_SET_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
export type TokenAlgorithm = (typeof SECRET_ALGORITHMS | typeof KEY_SET_ALGORITHMS)[number];

/** RFC 7518, section 3.2: a key as long as the hash. */
const LEAST_SECRET_BYTES = 32;
const DEFAULT_CLOCK_TOLERANCE_SECONDS = 30;
const MAX_CLOCK_TOLERANCE_SECONDS = 300;

/**
 * Checks how bearer tokens are to be read. The kinds of algorithms are never mixed: with a public key taken for a
 * shared secret, everybody could sign.
 *
 * @throws PalimpsestError `invalid_config`
 */
export function checkTokenOptions(options: TokenOptions): CheckedTokenOptions {
  checkKeys(options.keys);
  for (const name of ['issuer', 'audience'] as const) {
    if (options[name] === '') throw wrong(name, options[name], 'the exact value that tokens carry');
  }
  const { clockToleranceSeconds = DEFAULT_CLOCK_TOLERANCE_SECONDS } = options;
  if (!(clockToleranceSeconds >= 0 && clockToleranceSeconds <= MAX_CLOCK_TOLERANCE_SECONDS)) {
    const allowed = `0 to ${MAX_CLOCK_TOLERANCE_SECONDS} seconds`;
    throw wrong('clock_tolerance', clockToleranceSeconds, allowed);
  }
  checkScopesByRole(options.scopesByRole ?? {});
  return {
    ...options,
    algorithms: checkAlgorithms(options),
    clockToleranceSeconds,
    userClaim: options.userClaim ?? 'sub',
    tenantClaim: options.tenantClaim ?? 'tenant_id',
    scopeClaim: options.scopeClaim ?? 'scope',
  };
}

function checkKeys(keys: TokenKeySource): void {
  if ('sharedSecret' in keys) {
    const bytes = new TextEncoder().encode(keys.sharedSecret).length;
    // The secret itself is never repeated.
    if (bytes < LEAST_SECRET_BYTES) {
      throw wrong('shared_secret', `${bytes} bytes`, `at least ${LEAST_SECRET_BYTES} bytes`);
    }
    return;
  }
  const url = URL.canParse(keys.jwksUrl) ? new URL(keys.jwksUrl) : null;
  const isLocal = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)) return;
  throw wrong('jwks_url', keys.jwksUrl, 'an https:// URL, or an http:// one of this machine');
}

function checkAlgorithms({ keys, algorithms }: TokenOptions): TokenAlgorithm[] {
  const possible: readonly TokenAlgorithm[] = 'sharedSecret' in keys ? SECRET_ALGORITHMS : KEY_SET_ALGORITHMS;
  if (algorithms === undefined) {
    return 'sharedSecret' in keys ? ['HS256'] : ['RS256', 'ES256', 'EdDSA'];
  }
  const known = possible.filter((algorithm) => algorithms.includes(algorithm));
  if (known.length > 0 && known.length === new Set(algorithms).size) return known;
  throw wrong('algorithms', algorithms.join(', '), possible.join(', '));
}

function checkScopesByRole(scopesByRole: NonNullable<TokenOptions['scopesByRole']>): void {
  for (const [role, scopes] of Object.entries(scopesByRole)) {
    const unknown = scopes.find((scope) => !KEY_SCOPES.includes(scope));
    if (unknown !== undefined) throw wrong(`scopes of ${excerpt(role)}`, unknown, KEY_SCOPES.join(', '));
  }
}

function wrong(name: string, got: string | number, allowed: string): PalimpsestError {
  return new PalimpsestError(
    'invalid_config',
    `Bearer tokens: ${name} is ${excerpt(got)}; allowed: ${allowed}.`,
    { details: [{ path: name, got: excerpt(got), allowed }] },
  );
}
