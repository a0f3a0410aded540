import type { CliParts } from './cli-parts.ts';

/**
 * Aborted when somebody stops the program, so that the work can end in order and take away what it has made.
 *
 * @param reason - What the work rejects with. Default: an AbortError.
 */
export function givesUp(parts: Pick<CliParts, 'stopSignal'>, reason?: Error): AbortSignal {
  const stop = new AbortController();
  void parts.stopSignal().then(() => stop.abort(reason));
  return stop.signal;
}
