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

/** Of a server that lets in whoever knows its secret. */
export function createSecretCheck(): SharedSecret {
  return newSecret({
    message: 'This server serves the processes of one user, which know its secret.',
    hint: 'Start a server with palimpsest serve.',
  });
}

/** Of what only the operator of the machine may do, through the commands of this program. */
export function createOperatorCheck(): SharedSecret {
  return newSecret({
    message: 'This is for the operator of this machine: no key of the API opens it.',
    hint: 'Run palimpsest backup create on this machine, as the user who runs the server.',
  });
}

function newSecret(refusal: Refusal): SharedSecret {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return { secret, check: secretCheck(secret, refusal) };
}

/** What whoever does not know the secret is told, and what to do about it. */
interface Refusal {
  readonly message: string;
  readonly hint: string;
}

/** Lets those through who show a secret as a bearer token, and tells the others what to do. */
export function secretCheck(secret: string, refusal: Refusal): SharedSecret['check'] {
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
