import type { Writable } from 'node:stream';
import { hasCode } from '../core/errors.ts';
import type { TextOutput } from './cli-parts.ts';

/** Width of a line where there is no terminal to ask. */
const DEFAULT_COLUMNS = 100;

/** One of the process' own output streams. */
export function textOutput(stream: Writable & { isTTY?: boolean; columns?: number }): TextOutput {
  // Without a listener the event would end the process; `write` rejects with the same error.
  stream.on('error', () => undefined);
  return {
    stream,
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.columns ?? DEFAULT_COLUMNS;
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        stream.write(text, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

/** Whether the reader of a pipe has gone, as `head` does: nothing is wrong then. */
export function isBrokenPipe(error: unknown): boolean {
  return hasCode(error, 'EPIPE');
}
