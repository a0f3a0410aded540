import { HEADER_START } from './entry-header.ts';
import { MATURITY_NOTE } from './maturity-note.ts';

const HEADER_LINE = new RegExp(`^${HEADER_START.replace(/[(]/g, '\\$&')} `, 'm');

/**
 * Whether a text is a whole memory block: it has an entry's header and ends with the note. No stored content can make
 * a text of anything else look so, since imitations of both are marked in a block.
 */
export function isMemoryBlock(text: string): boolean {
  return text.endsWith(MATURITY_NOTE) && HEADER_LINE.test(text);
}
