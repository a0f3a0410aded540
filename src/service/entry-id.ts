import { excerpt, notFound } from '../core/errors.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** An id in the form it is stored in, or null for what is no UUID and so can't exist. */
export function storedId(id: unknown): string | null {
  const normal = typeof id === 'string' ? id.toLowerCase() : '';
  return UUID.test(normal) ? normal : null;
}

/**
 * An id in the form it is stored in. What is no UUID can't exist, and answers like any other unknown id, so that
 * the form of an id tells nothing.
 *
 * @throws PalimpsestError `not_found`
 */
export function knownId(what: string, id: unknown): string {
  const known = storedId(id);
  if (known === null) throw notFound(what, excerpt(id));
  return known;
}
