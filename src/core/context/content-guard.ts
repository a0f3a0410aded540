import { HEADER_START } from './entry-header.ts';
import { guardAgainst, type ImitationGuard } from './imitation.ts';
import type { Instruction } from './instruction.ts';
import { MATURITY_NOTE } from './maturity-note.ts';

/** What no content may imitate in any block. The first words of a header count at the start of a line. */
const BLOCK_PARTS = ['MEMORY ENTRY', HEADER_START, MATURITY_NOTE];

/**
 * What content may not imitate: headers, the note, any line of any instruction, and a line of dashes. The
 * instructions of rules that win nowhere in this block count too: a model may know them from another one.
 */
export function contentGuard(instructions: readonly Instruction[]): ImitationGuard {
  const texts = instructions.flatMap(({ before, after }) => [before, after]);
  return guardAgainst([...BLOCK_PARTS, ...texts], { dashedLines: true });
}
