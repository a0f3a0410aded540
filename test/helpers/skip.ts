import { describe } from 'vitest';

/**
 * Runs the suite, or skips it and says why: a skip that nobody sees is a hole in the tests. The linter refuses
 * `.skip`, so this is the one way to leave tests out.
 */
export function describeOrSkip(reason: string | undefined, name: string, suite: () => void): void {
  // Not console.log: Vitest puts a heading and empty lines around that.
  if (reason !== undefined) process.stderr.write(`Skipped: ${name} (${reason})\n`);
  describe.skipIf(reason !== undefined)(name, suite);
}
