/**
 * `npm run fuzz`: the fuzz test of the HTTP API with as many requests as a release has to stand (20,000), or as
 * many as the first argument says. A failure prints its seed; `PALIMPSEST_TEST_FUZZ_SEED` tries it again.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { resultFile } from './test-results.ts';

const ROOT = join(import.meta.dirname, '..');
const DEFAULT_REQUESTS = '20000';

const { status, error } = spawnSync(
  process.execPath,
  [
    join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--project',
    'unit',
    'test/http/fuzz.test.ts',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${resultFile('fuzz')}`,
  ],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, PALIMPSEST_TEST_FUZZ_REQUESTS: process.argv[2] ?? DEFAULT_REQUESTS },
  },
);
if (error) throw error;
process.exitCode = status ?? 1;
