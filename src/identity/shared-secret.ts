import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { PalimpsestError } from '../core/errors.ts';

/** A secret of one process, and who knows it. */
export interface SharedSecret {
  readonly secret: string;
  /**
   * @param authorization - The request's Authorization header.
   * @throws PalimpsestError `unauthenticated` for whoever does not show the secret as a bearer token
   */
  check(authorization: string | undefined): void;
}

/** 256 bits: nobody guesses it. */
const SECRET_BYTES = 32;

export function createSecretCheck(): SharedSecret {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const check = secretCheck(secret, {
    message: 'This server serves the processes of one user, which know its secret.',
    hint: 'Start a server with palimpsest serve.',
  });
  return { secret, check };
}

/** Lets those through who show a secret as a bearer token, and tells the others what to do. */
export function secretCheck(
  secret: string,
  refusal: { readonly message: string; readonly hint: string },
): SharedSecret['check'] {
  const expected = digest(`Bearer ${secret}`);
  return (authorization) => {
    if (timingSafeEqual(digest(authorization ?? ''), expected)) return;
    throw new PalimpsestError('unauthenticated', refusal.message, {
      details: [{ path: 'authorization', hint: refusal.hint }],
    });
  };
}

/** Of equal length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
