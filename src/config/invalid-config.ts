import { PalimpsestError } from '../core/errors.ts';

/** A configuration that means nothing: what it says, what is allowed, what to do. */
export function invalidConfig(
  message: string,
  got: string,
  allowed: string | string[],
  hint?: string | undefined,
): PalimpsestError {
  return new PalimpsestError('invalid_config', hint === undefined ? message : `${message} ${hint}`, {
    details: [{ got, allowed, hint }],
  });
}
