import { type ErrorCode, PalimpsestError } from '../core/errors.ts';

/** The code of an error; what is no error of ours is a fault of the program. Messages may hold what callers sent. */
export function codeOf(error: unknown): ErrorCode {
  return PalimpsestError.isInstance(error) ? error.code : 'internal';
}
