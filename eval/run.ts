/**
 * `npm run eval -- --data <folder> --provider hashing`: how well a provider's vectors find what was judged
 * relevant. Prints a Markdown table; `--out` writes the whole result as JSON, for eval/baselines/.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { BOOSTED_PROFILE } from '../src/core/defaults.ts';
import { PalimpsestError } from '../src/core/errors.ts';
import { createEmbeddingProvider, EMBEDDING_PROVIDER_NAMES } from '../src/embedding/registry.ts';
import { type EvaluationEntry, readDataset } from '../src/eval/dataset.ts';
import { markdownTable, reportRun } from '../src/eval/report.ts';
import { DEFAULT_DEPTH, rankQueries } from '../src/eval/run.ts';
import { similarityRanking } from '../src/eval/similarity-ranking.ts';

const ROOT = join(import.meta.dirname, '..');

const USAGE = `Usage: npm run eval -- --data <folder> [options]

  --data <folder>       holds corpus.jsonl and queries.jsonl (see eval/README.md)
  --provider <name>     ${EMBEDDING_PROVIDER_NAMES.join(', ')} (default: hashing)
  --dimensions <n>      length of the vectors (default: the provider's own)
  --with-speaker        embeds "speaker: content" where the speaker is known (default: the content)
  --licence <text>      licence of the data, kept with the result (default: not stated)
  --out <file>          writes the result as JSON
`;

const OPTIONS = {
  data: { type: 'string' },
  provider: { type: 'string', default: 'hashing' },
  dimensions: { type: 'string' },
  'with-speaker': { type: 'boolean', default: false },
  licence: { type: 'string', default: 'not stated' },
  out: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

async function evaluate(folder: string, options: Options) {
  const dimensions = options.dimensions === undefined ? undefined : Number(options.dimensions);
  const provider = createEmbeddingProvider({ provider: options.provider, dimensions });
  const dataset = await readDataset(folder);
  const started = performance.now();
  const rank = await similarityRanking(provider, dataset.entries, textOf(options['with-speaker']));
  const embedded = performance.now();
  const run = await rankQueries(dataset, rank);
  const report = reportRun(dataset, run, BOOSTED_PROFILE.minScore);
  await provider.close?.();
  return {
    command: `npm run eval -- --data <folder of ${basename(folder)}>${shownOptions(options)}`,
    commit: commitOf(ROOT),
    machine: { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length },
    dataset: {
      name: basename(folder),
      licence: options.licence,
      corpusSha256: sha256(join(folder, 'corpus.jsonl')),
      queriesSha256: sha256(join(folder, 'queries.jsonl')),
    },
    provider: { name: options.provider, modelId: provider.modelId, dimensions: provider.dimensions },
    embeddedText: options['with-speaker'] ? 'speaker: content' : 'content',
    depth: DEFAULT_DEPTH,
    similarityFloor: BOOSTED_PROFILE.minScore,
    seconds: { embedCorpus: seconds(started, embedded), rankQueries: seconds(embedded, performance.now()) },
    ...report,
  };
}

function textOf(withSpeaker: boolean): (entry: EvaluationEntry) => string {
  if (!withSpeaker) return ({ content }) => content;
  return ({ speaker, content }) => (speaker === null ? content : `${speaker}: ${content}`);
}

function shownOptions(options: Options): string {
  const dimensions = options.dimensions === undefined ? '' : ` --dimensions ${options.dimensions}`;
  return ` --provider ${options.provider}${dimensions}${options['with-speaker'] ? ' --with-speaker' : ''}`;
}

/** The commit, marked where what decides the result differs from it. */
function commitOf(root: string): string {
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
  const changes = git('status', '--porcelain', '--', 'src/core', 'src/embedding', 'src/eval', 'eval/run.ts');
  return `${git('rev-parse', 'HEAD')}${changes === '' ? '' : ' with uncommitted changes'}`;
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function seconds(from: number, to: number): number {
  return Math.round(to - from) / 1000;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help || values.data === undefined) {
    process.stderr.write(USAGE);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const result = await evaluate(values.data, values);
  console.log(`${result.provider.modelId} on ${result.dataset.name}\n\n${markdownTable(result)}`);
  if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(result, null, 2)}\n`);
}

try {
  await main();
} catch (error) {
  if (!PalimpsestError.isInstance(error)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
