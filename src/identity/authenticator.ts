import { PalimpsestError } from '../core/errors.ts';
import type { Identity } from '../core/identity.ts';

/** The headers an identity is read from. Nothing else of a request says who asks. */
export interface CredentialHeaders {
  readonly authorization?: string | undefined;
  readonly 'x-api-key'?: string | readonly string[] | undefined;
}

/** Establishes who asks from what they showed. */
export interface Authenticator {
  /** @throws PalimpsestError `unauthenticated`, and `store_unavailable` or `identity_unavailable` where nobody can tell */
  authenticate(headers: CredentialHeaders): Promise<Identity>;
}

/** Knows one kind of credential. */
export type CredentialCheck = (credential: string) => Promise<Identity>;

export interface CredentialChecks {
  /** Of API keys. Default: none is accepted. */
  readonly key?: CredentialCheck | undefined;
  /** Of bearer tokens (JWT). Default: none is accepted. */
  readonly token?: CredentialCheck | undefined;
}

const BEARER = /^Bearer +([^\s]+) *$/i;
const KEY_START = 'pal_';

/** An authenticator for `Authorization: Bearer <key or token>` and `X-API-Key: <key>`. */
export function createAuthenticator(checks: CredentialChecks): Authenticator {
  return {
    async authenticate(headers) {
      const credential = credentialOf(headers);
      const check = credential.startsWith(KEY_START) ? checks.key : checks.token;
      if (check === undefined) throw refused('This kind of credential is not accepted here.', checks);
      return check(credential);
    },
  };
}

function credentialOf({ authorization, 'x-api-key': apiKey }: CredentialHeaders): string {
  if (authorization !== undefined && apiKey !== undefined) {
    throw unauthenticated('The request shows two credentials.', 'Send Authorization or X-API-Key, not both.');
  }
  if (typeof apiKey === 'string') {
    if (apiKey.startsWith(KEY_START)) return apiKey;
    throw unauthenticated('X-API-Key does not hold an API key.', 'An API key begins with pal_.');
  }
  const bearer = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
  if (bearer !== undefined) return bearer;
  throw unauthenticated(
    authorization === undefined && apiKey === undefined
      ? 'The request does not say who asks.'
      : 'The credential is not in a form this server reads.',
    'Send Authorization: Bearer <key or token>, or X-API-Key: <key>.',
  );
}

function refused(message: string, checks: CredentialChecks): PalimpsestError {
  const accepted = [
    checks.key === undefined ? [] : 'an API key',
    checks.token === undefined ? [] : 'a bearer token',
  ].flat();
  return unauthenticated(message, `Accepted: ${accepted.length === 0 ? 'none' : accepted.join(', ')}.`);
}

/** A refusal that says what is wrong with the credential and never repeats it. */
export function unauthenticated(message: string, hint: string, cause?: unknown): PalimpsestError {
  return new PalimpsestError('unauthenticated', `${message} ${hint}`, { details: [{ hint }], cause });
}
