import type { CliParts } from '../cli-parts.ts';
import { printable } from './printable.ts';

/** Tells what was kept and is probably not meant, beside the answer. */
export async function writeWarnings(
  { stderr }: Pick<CliParts, 'stderr'>,
  warnings: readonly { readonly message: string }[],
): Promise<void> {
  for (const { message } of warnings) await stderr.write(`Warning: ${printable(message)}\n`);
}
