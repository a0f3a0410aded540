import { contentGuard } from '../../src/core/context/content-guard.ts';
import { type ImitationGuard, markPlaces } from '../../src/core/context/imitation.ts';
import type { Instruction } from '../../src/core/context/instruction.ts';
import { MATURITY_NOTE } from '../../src/core/context/maturity-note.ts';

/** One entry as it is read back out of a block. */
export interface ParsedEntry {
  readonly stored: string;
  /** The day, or an empty text for the day of the write; null for an entry nobody confirmed. */
  readonly confirmed: string | null;
  readonly namespace: string;
  readonly content: string;
  /** The instruction right above its header, or null. */
  readonly before: string | null;
  /** The instruction below its content, or null. */
  readonly after: string | null;
}

const HEADER =
  /^--- MEMORY ENTRY \(Stored on ([^,]+)(?:, (confirmed by the user)(?: on ([^,]+))?)?, Namespace: ([^\s()]+)\) ---$/;

/** Every kind of line break there is: an honest reader of a block knows only `\n`. */
const ANY_LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;

export function headerLines(text: string): string[] {
  return text.split(ANY_LINE_BREAK).filter((line) => HEADER.test(line));
}

/**
 * Reads a memory block by its grammar alone: the note is the last paragraph; a header is a line of its form; an
 * instruction above a group stands right above a header; everything else is content.
 */
export function parseMemoryBlock(block: string, instructions: readonly Instruction[]): ParsedEntry[] {
  if (block === '') return [];
  const guard = contentGuard(instructions);
  const lines = `${withoutEnd(block, MATURITY_NOTE)}\n`.split('\n');
  const starts = lines.flatMap((line, index) => (HEADER.test(line) ? [index] : []));
  let before: string | null = starts[0] === 0 ? null : lines.slice(0, starts[0]).join('\n');
  return starts.map((start, position) => {
    const header = HEADER.exec(lines[start] ?? '');
    if (header === null) throw new Error('not a header');
    const between = lines.slice(start + 1, starts[position + 1]).join('\n');
    const rest = readAfter(between, instructions);
    const entry: ParsedEntry = {
      stored: header[1] ?? '',
      confirmed: header[2] === undefined ? null : (header[3] ?? ''),
      namespace: header[4] ?? '',
      content: unmark(rest.content, guard),
      before,
      after: rest.after,
    };
    before = rest.before;
    return entry;
  });
}

/** Takes apart what stands between two headers: content, instruction below, instruction above the next. */
function readAfter(text: string, instructions: readonly Instruction[]) {
  const before = text.endsWith('\n') ? null : lastParagraph(text, instructions, 'before');
  const upTo = before === null ? withoutEnd(text, '') : withoutEnd(text, before);
  const after = lastParagraph(upTo, instructions, 'after');
  return { before, after, content: after === null ? upTo : withoutEnd(upTo, after) };
}

function lastParagraph(text: string, instructions: readonly Instruction[], side: 'before' | 'after') {
  const known = instructions.map((instruction) => instruction[side]).filter((one) => one !== '');
  const longestFirst = known.sort((a, b) => b.length - a.length);
  return longestFirst.find((one) => text.endsWith(`\n\n${one}`)) ?? null;
}

/** The text without its last paragraph and the empty line above it. */
function withoutEnd(text: string, end: string): string {
  // Lines joined by \n: an empty last line is one \n only.
  const tail = end === '' ? '\n' : `\n\n${end}`;
  if (!text.endsWith(tail)) throw new Error(`expected ${JSON.stringify(tail)} at the end of ${text}`);
  return text.slice(0, -tail.length);
}

/** Takes the marks out of a content. */
export function unmark(marked: string, guard: ImitationGuard): string {
  let text = '';
  let done = 0;
  for (const place of markPlaces(marked, guard)) {
    if (marked[place] !== '\\') throw new Error(`an imitation is not marked at ${place} of ${marked}`);
    text += marked.slice(done, place);
    done = place + 1;
  }
  return text + marked.slice(done);
}
