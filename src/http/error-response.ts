import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { toWireError } from '../contract/error-body.ts';
import { ERROR_CODES, type ErrorCode, excerpt, PalimpsestError } from '../core/errors.ts';

/** What each of Fastify's own refusals means in our words. */
const FRAMEWORK_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [
    'payload_too_large',
    'The body is too large. Send fewer entries in one request.',
  ],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'The body is of a type this route does not take. Send JSON with the header content-type: application/json, the lines of an import as application/x-ndjson.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_input',
    'The body has another length than its content-length header says.',
  ],
  FST_ERR_BAD_URL: ['invalid_input', 'The path of the URL is not validly percent-encoded.'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'There is nothing under so long a path.'],
};

/** Any error as the one this product shows. What it doesn't know is `internal`, and says nothing of itself. */
export function toPalimpsestError(error: unknown): PalimpsestError {
  if (PalimpsestError.isInstance(error)) return error;
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  const known = Object.hasOwn(FRAMEWORK_ERRORS, code) ? FRAMEWORK_ERRORS[code] : undefined;
  if (known !== undefined) return new PalimpsestError(known[0], known[1], { cause: error });
  if (statusCode >= 400 && statusCode < 500) {
    return new PalimpsestError('invalid_input', 'The request could not be read.', { cause: error });
  }
  return new PalimpsestError(
    'internal',
    'Something went wrong in the server. Its log has the cause under the request id.',
    { cause: error },
  );
}

/** Logs an error as what it is shown as: with all that is known of it where it is ours to mend. */
export function logError(
  { log }: Pick<FastifyRequest, 'log'>,
  { code }: PalimpsestError,
  error: unknown,
): void {
  // A caller's mistake is told by its code alone: its message repeats what the caller sent.
  if (ERROR_CODES[code].party === 'caller') log.info({ code }, 'refused');
  else log.error({ code, err: error }, 'failed');
}

/** Answers an error in the one shape, and logs what is ours to mend. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const shown = toPalimpsestError(error);
  request.errorCode = shown.code;
  logError(request, shown, error);
  if (shown.retryAfterSeconds !== undefined) reply.header('retry-after', shown.retryAfterSeconds);
  if (shown.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer');
  return reply
    .code(ERROR_CODES[shown.code].status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(toWireError(shown, request.id));
}

export function sendNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '';
  const message = `There is no ${request.method} ${excerpt(path)}.`;
  return sendError(
    new PalimpsestError('not_found', message, { details: [{ got: excerpt(path) }] }),
    request,
    reply,
  );
}

/** What each of Node's refusals of a connection means in our words. */
const CONNECTION_ERRORS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The headers of the request came too slowly.'],
  HPE_HEADER_OVERFLOW: ['invalid_input', 'The headers of the request are larger than 16 KiB.'],
};

const NO_REQUEST = ['invalid_input', 'The server could not read this as an HTTP request.'] as const;

/** Answers bytes that are no HTTP request. There is no request yet, so the answer is written by hand. */
export function answerClientError({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  if (code === 'ECONNRESET' || socket.destroyed || !socket.writable) return;
  const known = Object.hasOwn(CONNECTION_ERRORS, code) ? CONNECTION_ERRORS[code] : undefined;
  const error = new PalimpsestError(...(known ?? NO_REQUEST));
  const { status } = ERROR_CODES[error.code];
  const body = JSON.stringify(toWireError(error));
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
