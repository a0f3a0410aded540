/**
 * What the test runs wrote as JSON, added up. `node scripts/test-results.ts` prints `<passed> <failed>`;
 * with `--failures` what failed, and how: at the end of a long log, where somebody finds it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DIRECTORY = join(ROOT, 'test-results');

export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

interface Report {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: FileResult[];
}

interface FileResult {
  name: string;
  status: string;
  /** Why the file did not load; empty otherwise. */
  message: string;
  assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
}

export function clearResults(): void {
  rmSync(DIRECTORY, { recursive: true, force: true });
  mkdirSync(DIRECTORY, { recursive: true });
}

export function resultFile(run: string): string {
  return join(DIRECTORY, `${run}.json`);
}

export function addUpResults(): Totals {
  return reports().reduce<Totals>(
    (sum, report) => ({
      passed: sum.passed + report.numPassedTests,
      failed: sum.failed + report.numFailedTests + report.testResults.filter(didNotLoad).length,
      skipped: sum.skipped + report.numPendingTests,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

function reports(): Report[] {
  const files = existsSync(DIRECTORY) ? readdirSync(DIRECTORY) : [];
  return files.map((file) => JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8')) as Report);
}

/** A file that fails before its first test is in no count of tests, yet it is a failure. */
function didNotLoad(file: FileResult): boolean {
  return file.status === 'failed' && file.assertionResults.length === 0;
}

/** Each failed test with its file, its name and what it said. */
function failures(): string[] {
  return reports()
    .flatMap(({ testResults }) => testResults)
    .flatMap((file) => {
      const place = relative(ROOT, file.name);
      if (didNotLoad(file)) return [`${place} did not load\n${file.message}`];
      return file.assertionResults
        .filter(({ status }) => status === 'failed')
        .map(({ fullName, failureMessages }) => `${place}: ${fullName}\n${failureMessages.join('\n')}`);
    });
}

if (import.meta.main) {
  if (process.argv.includes('--failures')) {
    for (const failure of failures()) console.log(`FAILED ${failure}\n`);
  } else {
    const { passed, failed } = addUpResults();
    console.log(`${passed} ${failed}`);
  }
}
