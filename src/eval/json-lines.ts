import { createReadStream } from 'node:fs';
import { invalidInput, PalimpsestError, reasonOf } from '../core/errors.ts';

/** One line of a JSON Lines file. */
export interface JsonLine {
  /** Shown in errors: file and line number, from 1. */
  readonly place: string;
  readonly value: unknown;
}

/**
 * Reads a JSON Lines file line by line; empty lines are left out.
 *
 * Not `node:readline`: it also ends a line at U+2028, which JSON allows inside a string, and it replaces bytes
 * that are no UTF-8 in silence.
 *
 * @throws PalimpsestError `invalid_input` for a file that can not be read, is no UTF-8 or holds a line that is no JSON.
 */
export async function* readJsonLines(path: string): AsyncGenerator<JsonLine> {
  let number = 0;
  for await (const line of linesOf(path)) {
    number += 1;
    if (line.trim() !== '') yield parsedLine(line, `${path}, line ${number}`);
  }
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  try {
    for await (const chunk of createReadStream(path)) {
      const pieces = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = pieces.pop() ?? '';
      yield* pieces;
    }
    yield rest + decoder.decode();
  } catch (error) {
    if (PalimpsestError.isInstance(error)) throw error;
    const reason = reasonOf(error);
    throw new PalimpsestError('invalid_input', `${path} can not be read: ${reason}`, { cause: error });
  }
}

function parsedLine(line: string, place: string): JsonLine {
  try {
    return { place, value: JSON.parse(line) };
  } catch (error) {
    const reason = reasonOf(error);
    throw invalidInput(`${place} is not JSON: ${reason}`, {
      got: line.slice(0, 80),
      allowed: 'one JSON object a line',
    });
  }
}
