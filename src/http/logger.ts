import { type DestinationStream, destination, type Logger, pino } from 'pino';

const STDERR = 2;

/**
 * A logger that writes JSON lines to standard error and never what callers store or ask: a request is logged by
 * its method and path without the query string, an error by its code, or by name, message and stack where it is
 * ours to mend.
 */
export function createLogger(level: string, stream: DestinationStream = destination(STDERR)): Logger {
  return pino({ level, base: null, serializers: { err: errorForLog } }, stream);
}

interface LoggedError {
  readonly type: string;
  readonly code?: string | undefined;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly cause?: LoggedError | undefined;
}

/**
 * The parts of an error that say where it happened. Not its other fields: a database error carries the values
 * of the statement in `detail` and `where`.
 */
export function errorForLog(error: unknown): LoggedError {
  if (!(error instanceof Error))
    return { type: typeof error, message: 'something that is no Error was thrown' };
  const { name, message, stack, cause } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { type: name, code, message, stack, cause: cause === undefined ? undefined : errorForLog(cause) };
}
