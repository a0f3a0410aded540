import { text } from 'node:stream/consumers';
import type { CliParts } from './cli-parts.ts';

/** The text of an argument; `-` reads standard input, without the line break at its end. */
export async function readContent(parts: CliParts, argument: string): Promise<string> {
  return argument === '-' ? (await text(parts.stdin)).replace(/\r?\n$/, '') : argument;
}
