import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { openMemoryService } from '../../src/app.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { OpenedMemory } from '../../src/library/opened-memory.ts';
import { LOCAL_OPERATOR } from '../../src/service/local-operator.ts';
import type { StoreLocation } from '../../src/store/open-store.ts';
import type { ReembedProcessOptions, ReembedReport } from '../helpers/reembed-process.ts';
import { describeOrSkip } from '../helpers/skip.ts';
import { createDatabase, DATABASE_URL } from '../helpers/test-database.ts';

/** Changes of the model in real processes that are killed, while other work goes on. */

const OLD = 'hashing-512-v1';
const NEW = 'hashing-256-v1';
const TO_NEW = { provider: 'hashing', dimensions: 256 };
const KILLS = 3;

const CORPUS = Array.from({ length: 900 }, (_, index) => {
  const pick = (words: readonly string[], step: number) => words[Math.floor(index / step) % words.length];
  return `${pick(['The heron', 'Her sister', 'A kettle', 'The museum', 'Our boat'], 1)} ${pick(['waits', 'sings', 'closes', 'travels', 'sinks', 'glows', 'turns'], 5)} near bridge ${index}.`;
});
const QUERIES = [
  'the heron waits',
  'her sister near bridge 101',
  'what glows near the museum',
  'our boat sinks',
];

interface Run {
  readonly reports: ReembedReport[];
  readonly child: ChildProcess;
  /** Exit code; null after a kill. */
  readonly ended: Promise<number | null>;
}

function startProcess(options: ReembedProcessOptions): Run {
  const script = join(import.meta.dirname, '..', 'helpers', 'reembed-process.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const reports: ReembedReport[] = [];
  const lines = createInterface({ input: child.stdout });
  const read = new Promise<void>((resolve) => lines.once('close', resolve));
  lines.on('line', (line) => {
    // The last line of a killed process may be half of one.
    if (line.endsWith('}')) reports.push(JSON.parse(line) as ReembedReport);
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const ended = exited.then(async (code) => {
    await read;
    return code;
  });
  return { reports, child, ended };
}

const settledOf = ({ reports }: Run) =>
  Math.max(0, ...reports.map((report) => (report.kind === 'progress' ? report.settled : 0)));

/** Fills a store, and gives its rankings under the old model. */
async function prepare(location: StoreLocation): Promise<Map<string, string[]>> {
  const opened = await openMemoryService({ location, embedding: {}, backfills: false });
  const memory = new OpenedMemory(opened);
  for (let from = 0; from < CORPUS.length; from += 300) {
    await memory.rememberMany(
      CORPUS.slice(from, from + 300).map((content) => ({ namespace: 'corpus', content })),
    );
  }
  const rankings = await rankingsOf(memory);
  await opened.close();
  return rankings;
}

async function rankingsOf(memory: OpenedMemory): Promise<Map<string, string[]>> {
  const rankings = new Map<string, string[]>();
  for (const query of QUERIES) {
    const { hits } = await memory.recall({ query, namespaces: ['corpus'], minScore: 0, relativeCutoff: 0 });
    rankings.set(
      query,
      hits.map(({ entry }) => entry.content),
    );
  }
  return rankings;
}

/** The rankings of a store that never knew another model than the new one. */
async function rankingsUnderNew(): Promise<Map<string, string[]>> {
  const opened = await openMemoryService({
    location: { inMemory: true },
    embedding: createHashingProvider({ dimensions: 256 }),
    backfills: false,
  });
  const memory = new OpenedMemory(opened);
  for (let from = 0; from < CORPUS.length; from += 300) {
    await memory.rememberMany(
      CORPUS.slice(from, from + 300).map((content) => ({ namespace: 'corpus', content })),
    );
  }
  const rankings = await rankingsOf(memory);
  await opened.close();
  return rankings;
}

async function expectRightAll(
  location: StoreLocation,
  runs: readonly Run[],
  before: ReadonlyMap<string, string[]>,
): Promise<void> {
  const after = await rankingsUnderNew();
  const reports = runs.flatMap((run) => run.reports);
  expect(reports.filter(({ kind }) => kind === 'failed')).toEqual([]);
  const models = new Set<string | null>();
  for (const report of reports) {
    if (report.kind !== 'recalled') continue;
    models.add(report.modelId);
    expect(report.hits).toEqual((report.modelId === OLD ? before : after).get(report.query));
  }
  expect([...models].toSorted()).toEqual([NEW, OLD]);
  const written = reports.flatMap((report) => (report.kind === 'written' ? [report.content] : []));
  expect(written.length).toBeGreaterThan(10);

  const opened = await openMemoryService({ location, embedding: {}, backfills: false });
  const memory = new OpenedMemory(opened);
  const { jobs } = await opened.reembed.status({ access: LOCAL_OPERATOR });
  expect(jobs[0]?.job).toMatchObject({ status: 'done', verification: { counts: { waiting: 0, unseen: 0 } } });
  const kept = new Set<string>();
  for await (const { id, content } of memory.exportEntries()) {
    kept.add(content);
    const { embedding } = await memory.get(id);
    expect(embedding, content).toEqual({ modelId: NEW, coverage: 'whole' });
  }
  expect(written.filter((content) => !kept.has(content))).toEqual([]);
  expect(kept.size).toBeGreaterThanOrEqual(CORPUS.length + written.length);
  expect(await rankingsOf(memory)).toEqual(after);
  await opened.close();
}

/** Waits until the change has come further, then kills the process that works on it. */
async function killAfterProgress(run: Run, from: number): Promise<void> {
  await expect.poll(() => settledOf(run), { timeout: 60_000, interval: 10 }).toBeGreaterThan(from);
  run.child.kill('SIGKILL');
  await run.ended;
}

it('a change on the embedded store survives three SIGKILLs amid writes and recalls (CASES D8)', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'palimpsest-reembed-'));
  try {
    const location = { dataDir };
    const before = await prepare(location);
    const runs: Run[] = [];
    const start = (prefix: string) => {
      const run = startProcess({ location, to: TO_NEW, prefix, queries: QUERIES, batchSize: 8 });
      runs.push(run);
      return run;
    };
    let settled = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const run = start(`run ${kill}`);
      await killAfterProgress(run, settled + 20);
      settled = settledOf(run);
      expect(settled).toBeLessThan(CORPUS.length);
    }
    expect(await start('last run').ended).toBe(0);
    await expectRightAll(location, runs, before);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

const noServer = DATABASE_URL === undefined ? 'DATABASE_URL is not set' : undefined;

describeOrSkip(noServer, 'several processes on one PostgreSQL', () => {
  it('share a change, and what three that are killed had claimed is taken over (CASES D8)', async () => {
    const database = await createDatabase();
    const runs: Run[] = [];
    try {
      const location = { databaseUrl: database.url };
      const before = await prepare(location);
      const start = (prefix: string) => {
        const run = startProcess({ location, to: TO_NEW, prefix, queries: QUERIES, batchSize: 2 });
        runs.push(run);
        return run;
      };
      const survivor = start('survivor');
      let settled = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const run = start(`run ${kill}`);
        await killAfterProgress(run, settled + 20);
        settled = settledOf(run);
      }
      expect(settled).toBeLessThan(CORPUS.length);
      expect(await survivor.ended).toBe(0);
      await expectRightAll(location, runs, before);
    } finally {
      for (const { child } of runs) child.kill('SIGKILL');
      await database.drop();
    }
  });
});
