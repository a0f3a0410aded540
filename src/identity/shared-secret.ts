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
  const expected = digest(`Bearer ${secret}`);
  return {
    secret,
    check(authorization) {
      if (timingSafeEqual(digest(authorization ?? ''), expected)) return;
      throw new PalimpsestError(
        'unauthenticated',
        'This server serves the processes of one user, which know its secret.',
        { details: [{ path: 'authorization', hint: 'Start a server with palimpsest serve.' }] },
      );
    },
  };
}

/** Of equal length, whatever was sent. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
