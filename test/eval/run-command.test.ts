import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const RUN = join(import.meta.dirname, '..', '..', 'eval', 'run.ts');

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'palimpsest-eval-'));
  const lines = (...values: object[]) => values.map((value) => JSON.stringify(value)).join('\n');
  const entry = (id: string, content: string) => ({ id, namespace: 'n', content, speaker: 'Ann' });
  writeFileSync(
    join(folder, 'corpus.jsonl'),
    lines(entry('m1', 'The museum is closed on Mondays'), entry('m2', 'Bread is baked at six')),
  );
  writeFileSync(
    join(folder, 'queries.jsonl'),
    lines({ id: 'q1', namespace: 'n', query: 'When is bread baked?', relevant: ['m2'] }),
  );
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function run(...args: string[]) {
  return spawnSync(process.execPath, [RUN, ...args], { encoding: 'utf8' });
}

it('prints a table and writes a result that says how it came about', () => {
  const out = join(folder, 'result.json');
  const { status, stdout, stderr } = run(
    '--data',
    folder,
    '--dimensions',
    '128',
    '--with-speaker',
    '--out',
    out,
  );
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^hashing-128-v1 on .*\n\n\| queries/);
  expect(stdout).toMatch(/\| all \| 1 \| 1\.000 /);
  const result = JSON.parse(readFileSync(out, 'utf8'));
  expect(result).toMatchObject({
    command: expect.stringMatching(/--provider hashing --dimensions 128 --with-speaker$/),
    commit: expect.stringMatching(/^[0-9a-f]{40}/),
    machine: { node: process.version },
    dataset: { licence: 'not stated', corpusSha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    provider: { name: 'hashing', modelId: 'hashing-128-v1', dimensions: 128 },
    embeddedText: 'speaker: content',
    entries: 2,
    all: { scoredQueries: 1, measures: { 'recall@1': 1 } },
  });
  // No text of a data set may get into the project with its results.
  expect(JSON.stringify(result)).not.toMatch(/museum|bread/i);
});

it.each([
  [['--data', 'no-such-folder'], 1, /corpus\.jsonl can not be read: ENOENT/],
  [['--data', '.', '--provider', 'hasing'], 1, /no embedding provider "hasing"\. Known: hashing/],
  [['--data', '.', '--dimensions', 'many'], 1, /can not make NaN dimensions/],
  [[], 2, /Usage: npm run eval/],
])('%j ends with status %i and one message', (args, status, message) => {
  const result = run(...args);
  expect(result.status).toBe(status);
  expect(result.stderr).toMatch(message);
  expect(result.stdout).toBe('');
});
