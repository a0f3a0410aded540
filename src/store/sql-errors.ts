import { type ErrorCode, PalimpsestError } from '../core/errors.ts';

/**
 * What a database says went wrong, in our words. One table for both drivers, from SQLSTATE (appendix A of the
 * PostgreSQL manual) to error code; both drivers pass every failure through `toStoreError`.
 */

/** An error the server raised that is not in the table below: the statement that caused it knows what it means. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
  /** SQLSTATE, five characters. */
  readonly code: string;
  readonly schema: string | undefined;
  readonly table: string | undefined;
  readonly constraint: string | undefined;

  constructor(raised: RaisedError) {
    super(raised.message, { cause: raised });
    this.code = raised.code;
    this.schema = raised.schema ?? undefined;
    this.table = raised.table ?? undefined;
    this.constraint = raised.constraint ?? undefined;
  }
}

/** The fields of an error response that we read. `pg` and PGlite name them alike. */
export interface RaisedError extends Error {
  code: string;
  severity: string;
  schema?: string | undefined;
  table?: string | undefined;
  constraint?: string | undefined;
}

interface Translation {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  /** Where waiting alone can help. */
  readonly retryAfterSeconds?: number;
}

/** A database that was restarted or is contended is mostly back after so long; whoever waits asks again. */
export const STORE_RETRY_SECONDS = 1;

const UNREACHABLE: Translation = {
  code: 'store_unavailable',
  message: 'The connection to the database failed.',
  hint: 'Try again; if it stays like this, look whether the database server runs and accepts connections.',
  retryAfterSeconds: STORE_RETRY_SECONDS,
};
const DISK_FULL: Translation = {
  code: 'store_unavailable',
  message: 'The disk of the database is full.',
  hint: 'Free some room, then try again. What was stored before is kept.',
  retryAfterSeconds: STORE_RETRY_SECONDS,
};
const EXHAUSTED: Translation = {
  code: 'store_unavailable',
  message: 'The database has run out of a resource (memory or connections).',
  hint: 'Free the resource the cause names, then try again.',
  retryAfterSeconds: STORE_RETRY_SECONDS,
};
const FILE_ERROR: Translation = {
  code: 'store_unavailable',
  message: 'The database could not read or write one of its files.',
  hint: 'Look at the disk and the rights of the data directory.',
};
const UNSTORABLE_TEXT: Translation = {
  code: 'invalid_input',
  message: 'A text holds a character the database can not store (NUL, or malformed Unicode).',
  hint: 'Remove the character and send the text again.',
};
const UNREADABLE_VALUE: Translation = {
  code: 'invalid_input',
  message: 'The database could not read a value: it has the wrong form or is out of range.',
  hint: 'The cause names the value.',
};
const TOO_COMPLEX: Translation = {
  code: 'invalid_input',
  message: 'A value is nested too deeply or has too many parts for the database.',
  hint: 'Send something simpler.',
};
const CONTENDED: Translation = {
  code: 'store_unavailable',
  message: 'Other writers kept changing the same rows.',
  hint: 'Try again in a moment.',
  retryAfterSeconds: STORE_RETRY_SECONDS,
};
const READ_ONLY: Translation = {
  code: 'store_unavailable',
  message: 'The database does not accept writes.',
  hint: 'It may be a standby, or set to read only: connect to the primary.',
  retryAfterSeconds: STORE_RETRY_SECONDS,
};

/** By whole SQLSTATE, or by its class (the first two characters) where the whole class means one thing to us. */
const TRANSLATIONS: Readonly<Record<string, Translation>> = {
  '08': UNREACHABLE,
  '53': EXHAUSTED,
  '53100': DISK_FULL,
  '58': FILE_ERROR,
  '28000': UNREACHABLE,
  '28P01': UNREACHABLE,
  '3D000': UNREACHABLE,
  '57P01': UNREACHABLE,
  '57P02': UNREACHABLE,
  '57P03': UNREACHABLE,
  '57P04': UNREACHABLE,
  '57P05': UNREACHABLE,
  '25P03': UNREACHABLE,
  '25P04': UNREACHABLE,
  '22021': UNSTORABLE_TEXT,
  '22P05': UNSTORABLE_TEXT,
  '22001': UNREADABLE_VALUE,
  '22003': UNREADABLE_VALUE,
  '22007': UNREADABLE_VALUE,
  '22008': UNREADABLE_VALUE,
  '22009': UNREADABLE_VALUE,
  '22P02': UNREADABLE_VALUE,
  '54000': TOO_COMPLEX,
  '54001': TOO_COMPLEX,
  '40001': CONTENDED,
  '40P01': CONTENDED,
  '55P03': CONTENDED,
  '25006': READ_ONLY,
  '57014': {
    code: 'store_unavailable',
    message: 'A statement was cancelled: it ran longer than the statement timeout, or somebody stopped it.',
    hint: 'Try again, narrow the request, or raise the statement timeout.',
    retryAfterSeconds: STORE_RETRY_SECONDS,
  },
  '42501': {
    code: 'forbidden',
    message: 'The database refused this: row-level security or a missing right does not allow it.',
    hint: 'Ask for the right to this namespace; a server set up by hand may lack a grant from the migrations.',
  },
};

/** After one of these no statement can be run on the connection: the server closes it. */
const ENDS_CONNECTION = new Set(['FATAL', 'PANIC']);

/**
 * The error to hand on for one the driver raised: a `PalimpsestError` where the SQLSTATE alone says what it
 * means to a caller, else a `SqlError`. Errors without a SQLSTATE are failures of the connection.
 */
export function toStoreError(error: unknown): PalimpsestError | SqlError {
  if (PalimpsestError.isInstance(error) || error instanceof SqlError) return error;
  if (!isRaisedByServer(error)) return translated(UNREACHABLE, error);
  const raised = withoutValues(error);
  const translation = TRANSLATIONS[raised.code] ?? TRANSLATIONS[raised.code.slice(0, 2)];
  return translation === undefined ? new SqlError(raised) : translated(translation, raised);
}

/**
 * A copy that can be logged: PGlite's own carries the statement and its bound values, and both drivers' the
 * server's `detail`, which quotes rows. These are people's memories.
 */
function withoutValues(raised: RaisedError): RaisedError {
  const { message, stack = message, code, severity, schema, table, constraint } = raised;
  const fields = { name: 'ServerError', stack, code, severity, schema, table, constraint };
  return Object.assign(new Error(message), fields);
}

/** Whether the error is a unique violation, of the named constraint or index if one is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return isViolation(error, '23505', constraint);
}

/** Whether the error is a violated CHECK, of the named constraint if one is given. */
export function isCheckViolation(error: unknown, constraint?: string): boolean {
  return isViolation(error, '23514', constraint);
}

function isViolation(error: unknown, code: string, constraint: string | undefined): boolean {
  return (
    error instanceof SqlError &&
    error.code === code &&
    (constraint === undefined || error.constraint === constraint)
  );
}

/** Whether the whole transaction may succeed when run again: a serialization failure or a deadlock. */
export function isContention(error: unknown): boolean {
  const code = sqlState(error);
  return code === '40001' || code === '40P01';
}

/**
 * Whether the connection is unusable after this error, as the driver raised it. One of ours comes from reading
 * or writing a value and leaves the connection as it was.
 */
export function endsConnection(error: unknown): boolean {
  if (isRaisedByServer(error)) return ENDS_CONNECTION.has(error.severity);
  return !PalimpsestError.isInstance(error);
}

/** SQLSTATE of a translated or untranslated error the server raised; undefined for any other. */
export function sqlState(error: unknown): string | undefined {
  return raisedError(error)?.code;
}

function raisedError(error: unknown): RaisedError | undefined {
  if (isRaisedByServer(error)) return error;
  return error instanceof Error && isRaisedByServer(error.cause) ? error.cause : undefined;
}

function isRaisedByServer(error: unknown): error is RaisedError {
  return (
    error instanceof Error &&
    'severity' in error &&
    typeof error.severity === 'string' &&
    'code' in error &&
    typeof error.code === 'string'
  );
}

function translated(translation: Translation, cause: unknown): PalimpsestError {
  return new PalimpsestError(translation.code, translation.message, {
    details: [{ hint: translation.hint }],
    retryAfterSeconds: translation.retryAfterSeconds,
    cause,
  });
}
