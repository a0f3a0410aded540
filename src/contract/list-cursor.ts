import { excerpt, invalidInput } from '../core/errors.ts';
import type { ListCursor } from '../core/ports.ts';

// `btoa` and not `Buffer`: the contract runs in browsers too. Both halves of a cursor are ASCII.

/** A place in a list, opaque on the wire: callers hand it back as it is. */
export function encodeListCursor(cursor: ListCursor): string {
  const base64 = btoa(`${cursor.createdAt.getTime()} ${cursor.id}`);
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The times that an entry can have been made at; beyond them a database need not know what is meant. */
const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');
const DECODED = /^(?<time>-?\d{1,15}) (?<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Reads a cursor that an earlier page answered.
 *
 * @throws PalimpsestError `invalid_input` for a text no page has answered
 */
export function decodeListCursor(text: string, field: string): ListCursor {
  const parts = DECODED.exec(fromBase64Url(text))?.groups;
  const time = Number(parts?.time);
  if (parts?.id !== undefined && time >= EARLIEST && time <= LATEST) {
    return { createdAt: new Date(time), id: parts.id };
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

/** Empty for what is not in this form. */
function fromBase64Url(text: string): string {
  return /^[A-Za-z0-9_-]*$/.test(text) && text.length % 4 !== 1
    ? atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    : '';
}
