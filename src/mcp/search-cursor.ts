import { createHash } from 'node:crypto';
import { excerpt, invalidInput } from '../core/errors.ts';
import type { WireBody } from './tool-backend.ts';

const FORM = /^(?<offset>\d{1,3})-(?<print>[0-9a-f]{16})$/;

/** Place in the answer of a search: how many hits were shown, and of which search. Opaque to callers. */
export function encodeSearchCursor(offset: number, search: WireBody): string {
  return Buffer.from(`${offset}-${fingerprint(search)}`, 'utf8').toString('base64url');
}

/**
 * How many hits earlier answers have shown.
 *
 * @throws PalimpsestError `invalid_input` for a text no answer has given, and for one of another search
 */
export function decodeSearchCursor(cursor: string, search: WireBody): number {
  const parts = FORM.exec(Buffer.from(cursor, 'base64url').toString('utf8'))?.groups;
  if (parts?.offset !== undefined && parts.print === fingerprint(search)) return Number(parts.offset);
  throw invalidInput(`cursor: ${excerpt(cursor)} belongs to no answer of this search.`, {
    path: 'cursor',
    got: excerpt(cursor),
    allowed: 'the next_cursor of an answer, with otherwise the same arguments',
  });
}

function fingerprint(search: WireBody): string {
  return createHash('sha256').update(canonical(search), 'utf8').digest('hex').slice(0, 16);
}

/** The same text whatever the order of keys: a model does not repeat it. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`).join(',')}}`;
}
