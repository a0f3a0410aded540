import { MAX_CONTENT_BYTES } from './defaults.ts';
import { utf8Length } from './entry.ts';

/** Places to cut a long text at, the best first; each pattern's match stays with the part before it. */
const SEAMS = ['\n\n', '\n', '. ', ' '];

/**
 * Cuts a text into parts that an entry can hold. Joined they are the text again. A cut is made at the last
 * paragraph, line, sentence or word that ends in the second half of a part, else between two characters.
 */
export function splitContent(text: string, maxBytes = MAX_CONTENT_BYTES): string[] {
  const parts: string[] = [];
  let start = 0;
  while (start < text.length) {
    const end = partEnd(text, start, maxBytes);
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

function partEnd(text: string, start: number, maxBytes: number): number {
  const limit = longestEnd(text, start, maxBytes);
  if (limit === text.length) return limit;
  const earliest = start + Math.ceil((limit - start) / 2);
  for (const seam of SEAMS) {
    const found = text.lastIndexOf(seam, limit - seam.length);
    if (found + seam.length > earliest) return found + seam.length;
  }
  return limit;
}

/** The furthest index that a part from `start` can reach: whole characters of at most `maxBytes` UTF-8. */
function longestEnd(text: string, start: number, maxBytes: number): number {
  let low = start + 1;
  // A UTF-16 unit is at least one byte.
  let high = Math.min(text.length, start + maxBytes);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (utf8Length(text.slice(start, middle)) <= maxBytes) low = middle;
    else high = middle - 1;
  }
  const splitsPair = low < text.length && isHighSurrogate(text.charCodeAt(low - 1));
  return splitsPair ? low - 1 : low;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
