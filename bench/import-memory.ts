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

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-bench-'));
  const { drafts, name } = readCorpus('locomo');
  const results = [];
  try {
    for (const times of [1, 10]) await writeCorpus(join(folder, `${times}.jsonl`), drafts, times);
    for (const backend of ['pglite', 'postgres']) {
      const peaks: number[] = [];
      for (const times of [1, 10]) {
        const stores = await allStores();
        const store = stores.find((candidate) => candidate.backend === backend);
        if (store !== undefined) peaks.push(await peakOfImport(join(folder, `${times}.jsonl`), store));
        for (const each of stores) await each.dispose();
      }
      const [once, tenTimes] = peaks;
      if (once === undefined || tenTimes === undefined) continue;
      results.push({ backend, corpus: name, peakMiB: { once, tenTimes }, ratio: round(tenTimes / once) });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  writeResult('import-memory', { limit: { ratio: LIMIT }, results });
}
