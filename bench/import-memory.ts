import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import type { MemoryDraft } from '../src/core/types.ts';
import { readCorpus } from './corpus.ts';
import { round, writeResult } from './measure.ts';
import { allStores, type BenchStore } from './stores.ts';

const ROOT = join(import.meta.dirname, '..');
/** The peak of an import of 10 × the file stays within this share of the peak of the file. */
const LIMIT = 1.2;
/**
 * How many times over the corpus is imported. The third size tells growth with the file from the warming-up of the
 * heap: V8 enlarges its young generation during the first seconds of any work, which a small file does not fill.
 */
const TIMES = [1, 10, 20] as const;
/** How often the child's memory is read; the kernel keeps the peak itself. */
const POLL_MS = 100;

interface ImportMemory {
  /** Peak resident memory, MiB, read from the kernel while the process lives. */
  readonly peak: number;
  /** The most that V8's heap held after a full collection, MiB: what is alive, without what waits to be collected. */
  readonly alive: number;
}

/** Memory of `palimpsest import`. */
async function memoryOfImport(file: string, store: BenchStore): Promise<ImportMemory> {
  const place =
    'databaseUrl' in store.location
      ? ['--database-url', store.location.databaseUrl]
      : ['--data-dir', 'dataDir' in store.location ? store.location.dataDir : ''];
  const command = [join(ROOT, 'dist/cli/main.js'), 'import', file, ...place];
  const child = spawn(process.execPath, ['--trace-gc', ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
  let alive = 0;
  createInterface(child.stdout).on('line', (line) => {
    alive = Math.max(alive, Number(COLLECTED.exec(line)?.groups?.alive ?? 0));
  });
  let peak = 0;
  const poll = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
  }, POLL_MS);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  clearInterval(poll);
  if (code !== 0) throw new Error(`palimpsest import ended with ${code}.`);
  return { peak: round(peak / 1024, 0), alive: round(alive, 0) };
}

/** What V8 says of a full collection: `Mark-Compact 96.2 (180.0) -> 26.4 (171.1) MB`. */
const COLLECTED = /Mark-Compact .*-> (?<alive>[\d.]+) \(/;

/** VmHWM in KiB: the most the process has had at once. Linux only. */
function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch (error) {
    // The process has just ended.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0;
    throw error;
  }
}

/** The corpus `times` over, each time with other text, so that every line is an entry of its own. */
async function writeCorpus(file: string, drafts: readonly MemoryDraft[], times: number): Promise<void> {
  const output = createWriteStream(file);
  for (let round = 0; round < times; round += 1) {
    for (const { namespace, content } of drafts) {
      const line = { namespace, content: round === 0 ? content : `${content} (${round})` };
      if (!output.write(`${JSON.stringify(line)}\n`)) await once(output, 'drain');
    }
  }
  output.end();
  await finished(output);
}

/** Memory of an import of that file into a new store of that kind; null where no such store can be had. */
async function memoryIn(backend: BenchStore['backend'], file: string): Promise<ImportMemory | null> {
  const stores = await allStores();
  try {
    const store = stores.find((candidate) => candidate.backend === backend);
    return store === undefined ? null : await memoryOfImport(file, store);
  } finally {
    for (const each of stores) await each.dispose();
  }
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-bench-'));
  const results = [];
  try {
    for (const corpus of ['locomo', 'beam-100k']) {
      const { drafts, name } = readCorpus(corpus);
      const files = TIMES.map((times) => join(folder, `${name}-${times}.jsonl`));
      for (const [index, file] of files.entries()) await writeCorpus(file, drafts, TIMES[index] ?? 1);
      for (const backend of ['pglite', 'postgres'] as const) {
        const memory = [];
        for (const file of files) memory.push(await memoryIn(backend, file));
        const [once, tenTimes, twentyTimes] = memory;
        if (once == null || tenTimes == null || twentyTimes == null) continue;
        results.push({
          backend,
          corpus: name,
          peakMiB: { once: once.peak, tenTimes: tenTimes.peak, twentyTimes: twentyTimes.peak },
          aliveMiB: { once: once.alive, tenTimes: tenTimes.alive, twentyTimes: twentyTimes.alive },
          ratio: round(tenTimes.peak / once.peak),
          ratioBeyond: round(twentyTimes.peak / tenTimes.peak),
        });
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  writeResult('import-memory', { limit: { ratio: LIMIT }, results });
}
