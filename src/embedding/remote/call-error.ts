import { type ErrorDetail, PalimpsestError } from '../../core/errors.ts';

/**
 * Why a call to an embedding service failed.
 * - `rate_limited`: 429.
 * - `server_error`: 5xx, 408; `timeout`: no whole answer in time; `unreachable`: no connection, or it broke;
 *   `unreadable`: an answer that is no JSON, such as one cut short.
 * - `credentials`: 401 or 403.
 * - `too_long`: a text beyond what the model reads.
 * - `refused`: 400, 404 and every other status.
 */
export type CallFailure =
  | 'rate_limited'
  | 'server_error'
  | 'timeout'
  | 'unreachable'
  | 'unreadable'
  | 'credentials'
  | 'too_long'
  | 'refused';

/** The failures that say nothing about the request: the same one may succeed later, or elsewhere. */
const OUTAGES: ReadonlySet<CallFailure> = new Set(['server_error', 'timeout', 'unreachable', 'unreadable']);

export function isOutage(failure: CallFailure): boolean {
  return OUTAGES.has(failure);
}

/** `embedding_failed`, with what retries and fallbacks have to know. It never holds a key. */
export class EmbeddingCallError extends PalimpsestError {
  readonly failure: CallFailure;
  /** Milliseconds the service asked to be left alone for; undefined where it did not say. */
  readonly retryAfterMs: number | undefined;
  /** False where trying again soon is pointless, whatever the failure: the quota is used up, the circuit open. */
  readonly mayBeRetried: boolean;

  constructor(
    failure: CallFailure,
    message: string,
    options: {
      readonly detail?: ErrorDetail | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly mayBeRetried?: boolean | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super('embedding_failed', message, {
      details: options.detail === undefined ? [] : [options.detail],
      retryAfterSeconds:
        options.retryAfterMs === undefined ? undefined : Math.ceil(options.retryAfterMs / 1000),
      cause: options.cause,
    });
    this.failure = failure;
    this.retryAfterMs = options.retryAfterMs;
    this.mayBeRetried = options.mayBeRetried ?? (failure === 'rate_limited' || isOutage(failure));
  }
}
