import { invalidInput } from '../core/errors.ts';

/** One line of a JSON Lines stream. */
export interface JsonLine {
  /** Counted from 1. */
  readonly number: number;
  readonly value: unknown;
  /** Bytes of the stream up to the end of this line. */
  readonly position: number;
}

/** Longest line in bytes: an entry at all its limits with every character escaped is a fifth of this. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const LINE_FEED = 0x0a;

/**
 * Reads JSON Lines from a stream of bytes, holding one line at a time. Blank lines and a byte order mark at the
 * start are skipped.
 *
 * @throws PalimpsestError `invalid_input` that names the line
 */
export async function* readJsonLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<JsonLine> {
  let number = 0;
  let position = 0;
  for await (const bytes of splitLines(stream)) {
    number += 1;
    position += bytes.length;
    const text = decode(bytes, number);
    const line = text.trim();
    if (line !== '') yield { number, value: parse(line, number), position };
  }
}

/** The lines of a stream with their line feeds, each as one block of bytes. */
async function* splitLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let begun: Uint8Array[] = [];
  let begunLength = 0;
  let complete = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield joined([...begun, chunk.subarray(start, end + 1)]);
      complete += 1;
      begun = [];
      begunLength = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    begun.push(chunk.subarray(start));
    begunLength += chunk.length - start;
    if (begunLength > MAX_LINE_BYTES) {
      throw invalidInput(`Line ${complete + 1} is longer than ${MAX_LINE_BYTES} bytes. Is this JSON Lines?`, {
        path: `line ${complete + 1}`,
        allowed: 'one JSON object per line',
      });
    }
  }
  if (begun.length > 0) yield joined(begun);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let position = 0;
  for (const part of parts) {
    whole.set(part, position);
    position += part.length;
  }
  return whole;
}

/** Strict, so that broken bytes are not taken for U+FFFD; a byte order mark is dropped. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array, number: number): string {
  try {
    return UTF_8.decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw invalidInput(`Line ${number} is not valid UTF-8.`, { path: `line ${number}`, allowed: 'UTF-8' });
  }
}

function parse(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidInput(`Line ${number} is not valid JSON: ${error.message}.`, {
      path: `line ${number}`,
      allowed: 'one JSON object per line',
    });
  }
}
