import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { checkWord } from '../core/entry.ts';
import { excerpt, PalimpsestError } from '../core/errors.ts';
import { KEY_SCOPES, type KeyScope } from '../core/governance.ts';
import type { Identity, TokenKeySource, TokenOptions } from '../core/identity.ts';
import { parseSegment } from '../core/namespace.ts';
import type { Clock } from '../core/ports.ts';
import { type CredentialCheck, unauthenticated } from './authenticator.ts';
import { type CheckedTokenOptions, checkTokenOptions } from './token-options.ts';
import { userSegment } from './user-segment.ts';

/** Longest token that is looked at, in characters; headers of 16 KiB are about what servers take. */
const MAX_TOKEN_LENGTH = 16_384;
/** Longest user, tenant or agent in a token, in code points. */
const MAX_CLAIM_LENGTH = 128;
const FETCH_TIMEOUT_MS = 5_000;
const RETRY_AFTER_SECONDS = 5;

/**
 * Knows bearer tokens: signed by the issuer, meant for this audience, not expired.
 *
 * @throws PalimpsestError `invalid_config`
 */
export function createTokenCheck(options: TokenOptions, clock: Clock): CredentialCheck {
  const checked = checkTokenOptions(options);
  const verify = verifierOf(checked.keys);
  return async (token) => {
    if (token.length > MAX_TOKEN_LENGTH) {
      throw unauthenticated('The bearer token is too long.', `Allowed: ${MAX_TOKEN_LENGTH} characters.`);
    }
    const payload = await verified(verify, token, {
      issuer: checked.issuer,
      audience: checked.audience,
      algorithms: [...checked.algorithms],
      clockTolerance: checked.clockToleranceSeconds,
      currentDate: new Date(clock()),
      requiredClaims: ['exp'],
    });
    return identityOf(payload, checked);
  };
}

type Verifier = (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>;

function verifierOf(keys: TokenKeySource): Verifier {
  if ('sharedSecret' in keys) {
    const secret = new TextEncoder().encode(keys.sharedSecret);
    return async (token, options) => (await jwtVerify(token, secret, options)).payload;
  }
  const keySet = createRemoteJWKSet(new URL(keys.jwksUrl), { timeoutDuration: FETCH_TIMEOUT_MS });
  return async (token, options) => (await jwtVerify(token, keySet, options)).payload;
}

async function verified(verify: Verifier, token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return await verify(token, options);
  } catch (error) {
    throw refusalOf(error);
  }
}

/** What is wrong with a token, in words that tell nothing a forger doesn't know. */
function refusalOf(error: unknown): PalimpsestError {
  if (error instanceof errors.JWTExpired) {
    return unauthenticated('The bearer token has expired.', 'Get a new one from its issuer.', error);
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    const claim = excerpt(error.claim);
    const what =
      error.reason === 'missing' ? `has no claim ${claim}` : `has a claim ${claim} that is not accepted here`;
    return unauthenticated(`The bearer token ${what}.`, 'Get one that is meant for this server.', error);
  }
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) {
    return unauthenticated(
      'The bearer token is signed by an algorithm that is not accepted here.',
      'Get one that is meant for this server.',
      error,
    );
  }
  if (isBadToken(error)) {
    return unauthenticated('The bearer token is not validly signed by its issuer.', 'Get a new one.', error);
  }
  return new PalimpsestError('identity_unavailable', 'The keys of the token issuer could not be fetched.', {
    details: [{ hint: 'Try again; if it stays like this, the operator looks at the JWKS URL.' }],
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause: error,
  });
}

/** Whether it is the token's fault, and not that of a key set that can't be had. */
function isBadToken(error: unknown): boolean {
  return (
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  );
}

function identityOf(payload: JWTPayload, options: CheckedTokenOptions): Identity {
  const scopes = scopesOf(claimOf(payload, options.scopeClaim), options);
  return {
    principal: {
      tenantId: tenantOf(payload, options),
      userId: segmentOf(payload, options.userClaim),
      isAdmin: scopes.includes('admin'),
      isTenantWide: false,
    },
    scopes,
    keyId: null,
    tokenId: payload.jti ?? null,
    agentId: agentOf(payload, options),
  };
}

/** A claim by its whole name, which may hold dots (a URL), else along its dotted path. */
function claimOf(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  let value: unknown = payload;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return value;
}

/** A claim that has to be there, as a text that can be stored. */
function textClaim(payload: JWTPayload, name: string, maxLength: number): string {
  const value = claimOf(payload, name);
  if (value === undefined) throw wrongClaim(name, 'is missing');
  return accepted(name, () => checkWord(value, name, maxLength));
}

function segmentOf(payload: JWTPayload, name: string): string {
  const subject = textClaim(payload, name, MAX_CLAIM_LENGTH);
  return accepted(name, () => parseSegment(userSegment(subject), name));
}

function tenantOf(payload: JWTPayload, { tenantClaim, defaultTenant }: CheckedTokenOptions): string {
  if (defaultTenant !== undefined && claimOf(payload, tenantClaim) === undefined) return defaultTenant;
  return textClaim(payload, tenantClaim, MAX_CLAIM_LENGTH);
}

/** What a rule of the core gives for a claim; its refusal is the token's fault, not the request's. */
function accepted(name: string, rule: () => string): string {
  try {
    return rule();
  } catch (error) {
    if (!PalimpsestError.isInstance(error)) throw error;
    throw wrongClaim(name, 'is blank, too long, or no text', error);
  }
}

/** A token that carries no agent is its user's own. */
function agentOf(payload: JWTPayload, { agentClaim }: CheckedTokenOptions): string | null {
  if (agentClaim === undefined || claimOf(payload, agentClaim) === undefined) return null;
  return textClaim(payload, agentClaim, MAX_CLAIM_LENGTH);
}

/** The scopes of this server that the token's scopes or roles stand for; other ones are other servers' business. */
function scopesOf(claim: unknown, { scopesByRole }: CheckedTokenOptions): KeyScope[] {
  const words: unknown[] = typeof claim === 'string' ? claim.split(/\s+/) : Array.isArray(claim) ? claim : [];
  const granted = new Set<unknown>(
    scopesByRole === undefined
      ? words
      : words.flatMap((word) =>
          typeof word === 'string' && Object.hasOwn(scopesByRole, word) ? (scopesByRole[word] ?? []) : [],
        ),
  );
  return KEY_SCOPES.filter((scope) => granted.has(scope));
}

function wrongClaim(name: string, fault: string, cause?: unknown): PalimpsestError {
  return unauthenticated(
    `The claim ${excerpt(name)} of the bearer token ${fault}.`,
    'The operator names the claims in the configuration.',
    cause,
  );
}
