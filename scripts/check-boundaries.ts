/**
 * Checks the dependency direction (.dependency-cruiser.mjs) in src/ and console/.
 *
 * dependency-cruiser's own command would do, but for the warning it prints about TypeScript 7 on each run:
 * it can't read TypeScript 7's API, which the swc parser named in the configuration makes unnecessary.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type ICruiseResult, type IViolation } from 'dependency-cruiser';
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';

const PROJECT = join(import.meta.dirname, '..');

/** `root` is a directory with src/ (and console/) in it; the rules are always this project's. */
export async function findViolations(root: string): Promise<{ violations: IViolation[]; fileCount: number }> {
  const { options, ...ruleSet } = await extractConfig(join(PROJECT, '.dependency-cruiser.mjs'));
  const parts = ['src', 'console'].filter((part) => existsSync(join(root, part)));
  const { output } = await cruise(parts, { ...options, ruleSet, validate: true, baseDir: root });
  const { summary } = output as ICruiseResult;
  return { violations: summary.violations, fileCount: summary.totalCruised };
}

function describe({ rule, from, to, cycle }: IViolation): string {
  const path = cycle ? [from, ...cycle.map(({ name }) => name)] : [from, to];
  return `${rule.name}: ${path.join(' → ')}`;
}

if (import.meta.main) {
  const { violations, fileCount } = await findViolations(PROJECT);
  for (const violation of violations) console.error(describe(violation));
  console.log(`Dependency direction: ${fileCount} files, ${violations.length} violations.`);
  if (violations.length > 0) process.exitCode = 1;
}
