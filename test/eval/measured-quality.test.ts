import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { readDataset } from '../../src/eval/dataset.ts';
import { markdownTable, type Report, reportRun } from '../../src/eval/report.ts';
import { rankQueries } from '../../src/eval/run.ts';
import { similarityRanking } from '../../src/eval/similarity-ranking.ts';
import { describeOrSkip } from '../helpers/skip.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DATA = join(ROOT, '..', 'shared', 'data');

/** A committed result of `npm run eval`. */
interface Baseline extends Report {
  readonly similarityFloor: number;
  readonly provider: { readonly modelId: string; readonly dimensions: number };
}

const HASHING = 'hashing-512-v1';
const MINILM = 'minilm-l6-v2-fp16-v1';

function baseline(name: string, model = HASHING): Baseline {
  return JSON.parse(readFileSync(join(ROOT, 'eval', 'baselines', `${model}.${name}.json`), 'utf8'));
}

/** Measures are means of thousands of fractions; adding them up leaves this much. */
const DIGITS = 9;

for (const name of ['locomo', 'locomo-observations', 'beam-100k']) {
  const folder = join(DATA, name);
  const missing = existsSync(folder) ? undefined : `the data set ${name} is not on this machine`;

  describeOrSkip(missing, `hashing on ${name}`, () => {
    it('measures what the committed baseline says', async () => {
      const { provider: model, similarityFloor, ...expected } = baseline(name);
      const provider = createHashingProvider({ dimensions: model.dimensions });
      expect(provider.modelId).toBe(model.modelId);
      const dataset = await readDataset(folder);
      const run = await rankQueries(dataset, await similarityRanking(provider, dataset.entries));
      const { all } = reportRun(dataset, run, similarityFloor);
      expect(all.scoredQueries).toBe(expected.all.scoredQueries);
      expect(all.relevantAboveFloor).toBeCloseTo(expected.all.relevantAboveFloor, DIGITS);
      for (const [measure, value] of Object.entries(expected.all.measures)) {
        expect(all.measures[measure], measure).toBeCloseTo(value, DIGITS);
      }
    }, 60_000);
  });
}

it.each([
  [HASHING, 'locomo'],
  [HASHING, 'locomo-with-speaker'],
  [HASHING, 'locomo-observations'],
  [HASHING, 'beam-100k'],
  [HASHING, 'scifact'],
  [MINILM, 'locomo'],
  [MINILM, 'locomo-with-speaker'],
  [MINILM, 'locomo-observations'],
] as const)('docs/embeddings.md shows the figures of %s on %s', (model, name) => {
  const documented = readFileSync(join(ROOT, 'docs', 'embeddings.md'), 'utf8');
  const [, , all, , odd] = markdownTable(baseline(name, model)).split('\n');
  for (const row of [all, odd]) {
    // The documented row is the row of the report, headed by the name of the data set.
    expect(documented).toContain(
      row?.replace(/^\| (all|odd queries) \|/, (_, part) => `| ${name}, ${part} |`),
    );
  }
});
