import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openMemoryService } from '../src/app.ts';
import { LOCAL_OPERATOR } from '../src/service/local-operator.ts';
import { readCorpus } from './corpus.ts';
import { percentiles, round, writeResult } from './measure.ts';
import { pgliteStore } from './stores.ts';

const ROOT = join(import.meta.dirname, '..');
const MAIN = join(ROOT, 'dist', 'cli', 'main.js');
const RUNS = 25;
/** A client is answered within this time, in milliseconds, on a store that exists. */
const LIMIT = 1000;

/** Milliseconds from the start of a process. */
interface Start {
  /** Until the handshake is answered: the client shows the server, and may ask for its tools. */
  readonly initialize: number;
  /** Until a search is answered that was sent right behind the handshake: the store was opened for it. */
  readonly firstSearch: number;
}

async function startMcp(dataDir: string, query: string): Promise<Start> {
  const begin = performance.now();
  const child = spawn(process.execPath, [MAIN, 'mcp', '--data-dir', dataDir], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const answered = new Map<unknown, number>();
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'bench', version: '1' };
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result } = JSON.parse(line) as { id: number; result?: { isError?: boolean } };
    if (result === undefined || result.isError === true) throw new Error(line);
    answered.set(id, performance.now() - begin);
    if (id === 2) break;
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/call', params: { name: 'memory_search', arguments: { query } } });
  }
  child.stdin.end();
  await once(child, 'exit');
  return { initialize: answered.get(1) ?? Number.NaN, firstSearch: answered.get(2) ?? Number.NaN };
}

/** What every process of this Node takes that does nothing. */
async function startNothing(): Promise<number> {
  const begin = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - begin;
}

export async function run(): Promise<void> {
  // As it is installed: compiled.
  spawnSync(process.execPath, [join(ROOT, 'scripts', 'build.ts'), '--if-stale'], { stdio: 'inherit' });
  const { drafts, queries, name } = readCorpus('locomo');
  const { location, dispose } = await pgliteStore();
  if (!('dataDir' in location)) throw new Error('This measures the embedded store.');
  try {
    const memory = await openMemoryService({ location, embedding: {} });
    for await (const _ of memory.service.importEntries({ access: LOCAL_OPERATOR }, drafts));
    await memory.close();

    const starts: Start[] = [];
    const nothing: number[] = [];
    for (let index = 0; index < RUNS; index += 1) {
      nothing.push(await startNothing());
      starts.push(await startMcp(location.dataDir, queries[index] ?? ''));
    }
    const initialize = percentiles(starts.map((start) => start.initialize));
    const bare = percentiles(nothing);
    writeResult('mcp-start', {
      limit: { initializeMs: LIMIT },
      results: [
        {
          backend: 'pglite',
          corpus: name,
          entries: drafts.length,
          runs: RUNS,
          nodeAloneMs: bare,
          initializeMs: { ...initialize, timesNodeAlone: { p50: round(initialize.p50 / bare.p50, 1) } },
          firstSearchMs: percentiles(starts.map(({ firstSearch }) => firstSearch)),
        },
      ],
    });
  } finally {
    await dispose();
  }
}
