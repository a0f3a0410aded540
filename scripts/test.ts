/**
 * `npm test`: everything that can run here. Unit, contract and end-to-end tests need nothing but the packages;
 * the contract suites then run once more on PostgreSQL, or one line says why they can't. In CI they must.
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
  return node(vitest('embedded', ['unit', 'contract-pglite', 'e2e'])) === 0;
}

function testPostgres(): boolean {
  const status = node([
    POSTGRES,
    'run',
    '--',
    process.execPath,
    ...vitest('postgres', ['contract-postgres']),
  ]);
  return status === 0 || (status === NO_SERVER && !process.env.CI);
}

clearResults();
const allPassed = [testEmbedded(), testPostgres()].every(Boolean);
const { passed, failed, skipped } = addUpResults();
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
if (!allPassed) process.exitCode = 1;
