import { excerpt, invalidInput } from '../core/errors.ts';
import type { ListCursor } from '../core/ports.ts';

/** A place in a list, opaque on the wire: callers hand it back as it is. */
export function encodeListCursor(cursor: ListCursor): string {
  return Buffer.from(`${cursor.createdAt.getTime()} ${cursor.id}`, 'utf8').toString('base64url');
}

const DECODED = /^(?<time>-?\d{1,15}) (?<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Reads a cursor that an earlier page answered.
 *
 * @throws PalimpsestError `invalid_input` for a text no page has answered
 */
export function decodeListCursor(text: string, field: string): ListCursor {
  const parts = DECODED.exec(Buffer.from(text, 'base64url').toString('utf8'))?.groups;
  if (parts?.time !== undefined && parts.id !== undefined) {
    return { createdAt: new Date(Number(parts.time)), id: parts.id };
  }
  throw invalidInput(
    `${field}: ${excerpt(text)} is not a cursor of a list. Send next_cursor of the page before.`,
    {
      path: field,
      got: excerpt(text),
      allowed: 'the next_cursor of an earlier page',
    },
  );
}
