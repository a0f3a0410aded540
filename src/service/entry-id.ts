import { notFound } from '../core/errors.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Longest id repeated in an error: a few more characters than a real one has. */
const SHOWN_ID_LENGTH = 64;

/**
 * An id in the form it is stored in. One that is no UUID can't exist, and answers like any other unknown id, so
 * that the form of an id tells nothing.
 *
 * @throws PalimpsestError `not_found`
 */
export function knownId(what: string, id: string): string {
  const normal = id.toLowerCase();
  if (UUID.test(normal)) return normal;
  throw notFound(what, id.slice(0, SHOWN_ID_LENGTH));
}
