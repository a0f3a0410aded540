import { excerpt } from '../../core/errors.ts';
import { withoutKeys } from './api-key.ts';
import { type CallFailure, EmbeddingCallError } from './call-error.ts';
import { retryAfterMs } from './retry-after.ts';

export interface JsonCall {
  readonly url: URL;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** Kept out of every message. */
  readonly key: string | undefined;
  /** Gives up; its reason is thrown as it is. */
  readonly signal: AbortSignal;
  /** What an operator can do about a status, told in the error. */
  readonly hints?: Readonly<Record<number, string>> | undefined;
}

/** Largest answer read, in bytes: 2,048 vectors of 3,072 numbers as text take 130 MB. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/**
 * Posts JSON and reads JSON.
 *
 * @throws EmbeddingCallError for whatever the network or the service does
 */
export async function postJson(call: JsonCall): Promise<unknown> {
  const response = await answerOf(call);
  const text = await bodyOf(response, call);
  if (!response.ok) throw statusError(response, text, call);
  try {
    return JSON.parse(text);
  } catch {
    // Without the parser's error, which repeats what it read.
    throw callError('unreadable', call, `answered something that is not JSON: ${shown(text, call)}`);
  }
}

async function answerOf({ url, body, headers, signal, ...call }: JsonCall): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      signal,
      // Followed to another host, a call would take texts, and maybe the key, to where nobody meant them to go.
      redirect: 'manual',
    });
  } catch (error) {
    signal.throwIfAborted();
    throw callError('unreachable', { url, ...call }, `can not be reached (${networkReason(error)})`, {
      cause: error,
      hint: 'Check that the service runs and that the base URL is right.',
    });
  }
}

async function bodyOf(response: Response, call: JsonCall): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > MAX_ANSWER_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    call.signal.throwIfAborted();
    throw callError('unreachable', call, `broke off its answer (${networkReason(error)})`, { cause: error });
  }
  if (size > MAX_ANSWER_BYTES)
    throw callError('refused', call, `answered more than ${MAX_ANSWER_BYTES} bytes`);
  return Buffer.concat(chunks).toString('utf8');
}

/** The system's word for it, such as ECONNREFUSED, which fetch hides in the cause. */
function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return excerpt(cause);
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

function statusError(response: Response, text: string, call: JsonCall): EmbeddingCallError {
  const { status } = response;
  const failure = failureOf(status, text);
  const hint = call.hints?.[status] ?? HINTS[failure];
  // Services repeat a refused key in their answer, starred out in ways that can't all be known.
  const words = failure === 'credentials' ? '' : `: ${shown(text, call)}`;
  return callError(failure, call, `answered ${status}${words}`, {
    hint,
    got: status,
    retryAfterMs: retryAfterMs(response.headers, Date.now()),
    mayBeRetried: isQuotaUsedUp(failure, text) ? false : undefined,
  });
}

const HINTS: Partial<Record<CallFailure, string>> = {
  credentials: 'Check the key and what it may do. It is tried again after a pause, not with each text.',
  rate_limited: 'The service limits calls. Lower the concurrency, or ask for a higher limit.',
  server_error: 'The service has a fault of its own; ask again later.',
};

const TOO_LONG =
  /context.{0,12}(length|window|size)|maximum.{0,24}tokens|too many tokens|(input|text|prompt|sequence).{0,40}too (long|large)/i;
/** Statuses under which services say that a text is too long; Ollama used 500 too. */
const STATUSES_OF_TOO_LONG: ReadonlySet<number> = new Set([400, 413, 422, 500]);

function failureOf(status: number, text: string): CallFailure {
  if (status === 413 || (STATUSES_OF_TOO_LONG.has(status) && TOO_LONG.test(text))) return 'too_long';
  if (status === 429) return 'rate_limited';
  if (status === 401 || status === 403) return 'credentials';
  // 425 and 408 are about the moment, not about the request.
  return status >= 500 || status === 408 || status === 425 ? 'server_error' : 'refused';
}

/** OpenAI's 429 for an account without money, which no waiting mends. */
function isQuotaUsedUp(failure: CallFailure, text: string): boolean {
  return failure === 'rate_limited' && text.includes('insufficient_quota');
}

function shown(text: string, { key }: Pick<JsonCall, 'key'>): string {
  const words = withoutKeys(errorWords(text), key).trim();
  return words === '' ? 'nothing' : excerpt(words);
}

/** The message inside `{"error": {"message": …}}` (OpenAI) or `{"error": …}` (Ollama); else the text. */
function errorWords(text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    const error = field(answer, 'error');
    const message = field(error, 'message') ?? error ?? field(answer, 'message') ?? field(answer, 'detail');
    return typeof message === 'string' ? message : text;
  } catch {
    // A proxy's page, or plain words.
    return text;
  }
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function callError(
  failure: CallFailure,
  { url }: Pick<JsonCall, 'url'>,
  what: string,
  {
    hint,
    got,
    ...options
  }: {
    readonly hint?: string | undefined;
    readonly got?: number | undefined;
    readonly retryAfterMs?: number | undefined;
    readonly mayBeRetried?: boolean | undefined;
    readonly cause?: unknown;
  } = {},
): EmbeddingCallError {
  // Without its query, which may hold a key.
  const place = `${url.origin}${url.pathname}`;
  const detail = hint === undefined && got === undefined ? undefined : { got, hint };
  return new EmbeddingCallError(failure, `The embedding service ${place} ${what}.`, { ...options, detail });
}
