/**
 * `npm test`: everything that can run here. Unit and contract tests need nothing but the packages; the contract
 * suites then run once more on PostgreSQL, with the tests of real processes, some of which need that server too.
 * Where no server can be had one line says why, and the rest still runs. In CI it must be had.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { addUpResults, clearResults, resultFile } from './test-results.ts';

const ROOT = join(import.meta.dirname, '..');
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const POSTGRES = join(ROOT, 'scripts', 'postgres.ts');
const NO_SERVER = 3;

function vitest(run: string, projects: string[]): string[] {
  const report = ['--reporter=default', '--reporter=json', `--outputFile.json=${resultFile(run)}`];
  return [VITEST, 'run', ...projects.flatMap((project) => ['--project', project]), ...report];
}

function node(args: string[]): number {
  const { status, error } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  if (error) throw error;
  return status ?? 1;
}

function testEmbedded(): boolean {
  return node(vitest('embedded', ['unit', 'contract-pglite'])) === 0;
}

function testPostgresAndProcesses(): boolean {
  const command = [process.execPath, ...vitest('postgres', ['contract-postgres', 'e2e'])];
  const status = node([POSTGRES, 'run', '--', ...command]);
  if (status !== NO_SERVER || process.env.CI) return status === 0;
  return node(vitest('processes', ['e2e'])) === 0;
}

clearResults();
const allPassed = [testEmbedded(), testPostgresAndProcesses()].every(Boolean);
const { passed, failed, skipped } = addUpResults();
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
if (!allPassed) process.exitCode = 1;
