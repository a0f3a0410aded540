import { CommanderError } from 'commander';
import { toWireError } from '../contract/error-body.ts';
import { PalimpsestError } from '../core/errors.ts';
import { jsonText } from '../core/json-text.ts';
import type { CliParts } from './cli-parts.ts';
import { UnhealthyError } from './commands/doctor.ts';
import { EXIT_CODES, exitCodeOf } from './exit-code.ts';
import { printable } from './format/printable.ts';
import { buildProgram } from './program.ts';
import { isBrokenPipe } from './text-output.ts';
import { UsageError } from './usage-error.ts';

/**
 * Runs one command line.
 *
 * @param argv - The words after the program's name.
 * @returns The exit code.
 */
export async function runCli(argv: readonly string[], parts: CliParts): Promise<number> {
  try {
    await buildProgram(parts).parseAsync([...argv], { from: 'user' });
    return EXIT_CODES.ok.code;
  } catch (error) {
    if (isBrokenPipe(error)) return EXIT_CODES.ok.code;
    const text = errorText(error, argv.includes('--json'));
    // Nobody may be left to read it.
    await parts.stderr.write(text).catch(() => undefined);
    return exitCodeOf(error);
  }
}

function errorText(error: unknown, asJson: boolean): string {
  // Commander has told its own.
  if (error instanceof CommanderError) return '';
  if (PalimpsestError.isInstance(error)) {
    return asJson
      ? `${jsonText(toWireError(error))}\n`
      : `palimpsest: ${printable(error.message)}${hintsOf(error)}\n`;
  }
  if (error instanceof UsageError || error instanceof UnhealthyError) return `palimpsest: ${error.message}\n`;
  return `palimpsest: this is a fault of the program: ${printable(String(error instanceof Error ? error.stack : error))}\n`;
}

function hintsOf({ message, details }: PalimpsestError): string {
  const hints = details.flatMap(({ path, hint }, index) => {
    if (hint === undefined || message.includes(hint)) return [];
    // The message tells the first fault; a hint on another says on which.
    return index === 0 || path === undefined ? [hint] : [`${path}: ${hint}`];
  });
  return [...new Set(hints)].map((hint) => `\n  ${printable(hint)}`).join('');
}
