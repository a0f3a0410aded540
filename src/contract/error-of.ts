import { ERROR_CODES, PalimpsestError } from '../core/errors.ts';
import { wireErrorSchema } from './error-body.ts';

/**
 * The error that an answer of a server tells of.
 *
 * @param status - The answer's HTTP status.
 * @param body - What it says; anything but the API's own error shape is something between here and the server.
 */
export function errorOf(
  status: number,
  body: unknown,
  options: { readonly retryAfterSeconds?: number | undefined } = {},
): PalimpsestError {
  const { retryAfterSeconds } = options;
  // Not strict: a newer server may say more.
  const told = wireErrorSchema.shape.error.partial().loose().safeParse(errorPart(body));
  const code = told.success ? told.data.code : undefined;
  if (told.success && code !== undefined && Object.hasOwn(ERROR_CODES, code)) {
    return new PalimpsestError(code, told.data.message ?? code, {
      details: told.data.details,
      retryAfterSeconds,
    });
  }
  return new PalimpsestError(
    'server_unreachable',
    `Something answered with status ${status} that is no Palimpsest. Is the URL right?`,
    { details: [{ path: 'baseUrl', got: status }], retryAfterSeconds },
  );
}

function errorPart(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
}
