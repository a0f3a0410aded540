import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** Peak resident memory of `palimpsest import`, in MiB, read from the kernel while the process lives. */
async function peakOfImport(file: string, store: BenchStore): Promise<number> {
  const place =
    'databaseUrl' in store.location
      ? ['--database-url', store.location.databaseUrl]
      : ['--data-dir', 'dataDir' in store.location ? store.location.dataDir : ''];
  const child = spawn(process.execPath, [join(ROOT, 'dist/cli/main.js'), 'import', file, ...place], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let peak = 0;
  const poll = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
  }, POLL_MS);
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve));
  clearInterval(poll);
  if (code !== 0) throw new Error(`palimpsest import ended with ${code}.`);
  return round(peak / 1024, 0);
}

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

/** Peak of an import of that file into a new store of that kind; null where no such store can be had. */
async function peakIn(backend: BenchStore['backend'], file: string): Promise<number | null> {
  const stores = await allStores();
  try {
    const store = stores.find((candidate) => candidate.backend === backend);
    return store === undefined ? null : await peakOfImport(file, store);
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
        const peaks = [];
        for (const file of files) peaks.push(await peakIn(backend, file));
        const [once, tenTimes, twentyTimes] = peaks;
        if (once == null || tenTimes == null || twentyTimes == null) continue;
        results.push({
          backend,
          corpus: name,
          peakMiB: { once, tenTimes, twentyTimes },
          ratio: round(tenTimes / once),
          ratioBeyond: round(twentyTimes / tenTimes),
        });
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  writeResult('import-memory', { limit: { ratio: LIMIT }, results });
}
