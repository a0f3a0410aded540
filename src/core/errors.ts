import type { JsonValue } from './types.ts';

/** Who has to act: the caller, the operator of this server, or a service it depends on. */
export type ErrorParty = 'caller' | 'system' | 'third_party';

/** Every error code of this product, with its HTTP status and who has to act. Codes are stable. */
export const ERROR_CODES = {
  invalid_input: { status: 400, party: 'caller' },
  unauthenticated: { status: 401, party: 'caller' },
  forbidden: { status: 403, party: 'caller' },
  not_found: { status: 404, party: 'caller' },
  request_timeout: { status: 408, party: 'caller' },
  conflict: { status: 409, party: 'caller' },
  precondition_failed: { status: 412, party: 'caller' },
  payload_too_large: { status: 413, party: 'caller' },
  unsupported_media_type: { status: 415, party: 'caller' },
  rate_limited: { status: 429, party: 'caller' },
  internal: { status: 500, party: 'system' },
  embedding_failed: { status: 502, party: 'third_party' },
  identity_unavailable: { status: 503, party: 'third_party' },
  server_unreachable: { status: 503, party: 'third_party' },
  store_unavailable: { status: 503, party: 'system' },
  store_locked: { status: 503, party: 'system' },
  store_newer: { status: 503, party: 'system' },
  shutting_down: { status: 503, party: 'system' },
  invalid_config: { status: 500, party: 'system' },
} as const satisfies Record<string, { status: number; party: ErrorParty }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** What a caller needs to mend the request. */
export interface ErrorDetail {
  /** Dotted path of the offending field, such as `filter.metadata.age`. */
  readonly path?: string | undefined;
  /** What was got, shortened. */
  readonly got?: JsonValue | undefined;
  /** What is allowed, in words or as a list. */
  readonly allowed?: JsonValue | undefined;
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** In a batch: position of the item that failed, from 0. */
  readonly item?: number | undefined;
  /** In a stream of lines: the line that failed, from 1. */
  readonly line?: number | undefined;
}

/**
 * The one error of this product. Every face shows the same shape: `code`, `message`, `details`.
 *
 * Recognise it by `PalimpsestError.isInstance`, which also works across two copies of the package.
 */
export class PalimpsestError extends Error {
  override readonly name = 'PalimpsestError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  /** Whole seconds after which the same request may succeed; undefined where waiting does not help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: readonly ErrorDetail[] | undefined;
      retryAfterSeconds?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  static isInstance(error: unknown): error is PalimpsestError {
    return (
      error instanceof Error && error.name === 'PalimpsestError' && 'code' in error && 'details' in error
    );
  }
}

/** The refusal of one item of a batch, which says which: its place, from 0. */
export function withItem(error: PalimpsestError, item: number): PalimpsestError {
  const { code, message, retryAfterSeconds, cause } = error;
  const details = error.details.length === 0 ? [{ item }] : error.details.map((it) => ({ ...it, item }));
  return new PalimpsestError(code, message, { details, retryAfterSeconds, cause });
}

/** Whether an error of the platform has one of these codes, such as `ENOENT`. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}

/**
 * Why something failed, in the words of what was thrown. Of several failures the first: Node reports a name with several
 * addresses as an error without a message, one cause for each.
 */
export function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}

/** A request that says something this product does not accept. */
export function invalidInput(message: string, detail: ErrorDetail = {}): PalimpsestError {
  return new PalimpsestError('invalid_input', message, { details: [detail] });
}

/** An id that does not exist, or that the asker may not know to exist: both look the same. */
export function notFound(what: string, id: string): PalimpsestError {
  return new PalimpsestError('not_found', `There is no ${what} with id ${id}.`, { details: [{ got: id }] });
}

export function conflict(message: string, detail: ErrorDetail = {}): PalimpsestError {
  return new PalimpsestError('conflict', message, { details: [detail] });
}

/** Longest excerpt of a caller's text that an error repeats, in code points. */
const EXCERPT_LENGTH = 80;

/**
 * A caller's value as an error may show it: cut short, and quoted as JSON so that control characters and
 * broken surrogates stay visible and harmless in a log.
 */
export function excerpt(value: unknown): string {
  if (typeof value === 'string') {
    const points = [...value.slice(0, 2 * EXCERPT_LENGTH + 2)];
    const shown = points.slice(0, EXCERPT_LENGTH).join('');
    return JSON.stringify(points.length > EXCERPT_LENGTH ? `${shown}…` : shown);
  }
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : typeof value;
}
