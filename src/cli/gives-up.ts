import { PalimpsestError } from '../core/errors.ts';
import type { CliParts } from './cli-parts.ts';

/**
 * Aborted when somebody stops the program, so that the work can end in order, take away what it has made, and tell
 * what it did.
 *
 * @param reason - What work rejects with that has nothing of its own to tell. Default: an AbortError.
 */
export function givesUp(parts: Pick<CliParts, 'stopSignal'>, reason?: PalimpsestError): AbortSignal {
  const stop = new AbortController();
  void parts.stopSignal().then(() => stop.abort(reason));
  return stop.signal;
}

/** What a command says that was stopped. */
export function stopped(message: string, cause?: unknown): PalimpsestError {
  return new PalimpsestError('shutting_down', message, { cause });
}
