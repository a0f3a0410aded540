/** What the test runs wrote as JSON, added up. `node scripts/test-results.ts` prints `<passed> <failed>`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const DIRECTORY = join(import.meta.dirname, '..', 'test-results');

export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { status: string; assertionResults: unknown[] }[];
}

export function clearResults(): void {
  rmSync(DIRECTORY, { recursive: true, force: true });
  mkdirSync(DIRECTORY, { recursive: true });
}

export function resultFile(run: string): string {
  return join(DIRECTORY, `${run}.json`);
}

export function addUpResults(): Totals {
  const files = existsSync(DIRECTORY) ? readdirSync(DIRECTORY) : [];
  return files
    .map((file) => JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8')) as Report)
    .reduce<Totals>(
      (sum, report) => ({
        passed: sum.passed + report.numPassedTests,
        failed: sum.failed + report.numFailedTests + filesThatDidNotLoad(report),
        skipped: sum.skipped + report.numPendingTests,
      }),
      { passed: 0, failed: 0, skipped: 0 },
    );
}

/** A file that fails before its first test is in no count of tests, yet it is a failure. */
function filesThatDidNotLoad({ testResults }: Report): number {
  return testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length;
}

if (import.meta.main) {
  const { passed, failed } = addUpResults();
  console.log(`${passed} ${failed}`);
}
