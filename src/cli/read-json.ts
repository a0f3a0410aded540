import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { reasonOf } from '../core/errors.ts';
import type { CliParts } from './cli-parts.ts';
import { UsageError } from './usage-error.ts';

/**
 * The JSON in a file, on standard input for `-`.
 *
 * @throws UsageError for a file that can't be read or is no JSON
 */
export async function readJson(parts: CliParts, file: string): Promise<unknown> {
  const content = file === '-' ? await text(parts.stdin) : await contentOf(file);
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new UsageError(`${file === '-' ? 'Standard input' : file} is not JSON: ${reasonOf(error)}.`);
  }
}

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${reasonOf(error)}.`);
  }
}
