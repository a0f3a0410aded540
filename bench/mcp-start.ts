import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openMemoryService } from '../src/app.ts';
import { LOCAL_OPERATOR } from '../src/service/local-operator.ts';
import { readCorpus } from './corpus.ts';
import { percentiles, round, writeResult } from './measure.ts';
import { pgliteStore } from './stores.ts';

const ROOT = join(import.meta.dirname, '..');
const MAIN = join(ROOT, 'dist', 'cli', 'main.js');
const HANDSHAKES = 25;
const SEARCHES = 7;
/** A client is answered within this time, in milliseconds, on a store that exists. */
const LIMIT = 1000;

/** A process whose client has shaken hands with it. */
interface Greeted {
  /** Milliseconds from its start until the handshake was answered: a client shows the server from then on. */
  readonly wallMs: number;
  /** Milliseconds of processor time it took, which other work on the machine hardly changes; null where unknown. */
  readonly cpuMs: number | null;
  /** Asks for a search right away; gives the milliseconds from the start of the process to its answer. */
  search(query: string): Promise<number>;
  close(): Promise<void>;
}

async function greet(dataDir: string): Promise<Greeted> {
  const begin = performance.now();
  const child = spawn(process.execPath, [MAIN, 'mcp', '--data-dir', dataDir], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const answered = async () => {
    const { value } = await lines.next();
    const { result } = JSON.parse(String(value)) as { result?: { isError?: boolean } };
    if (result === undefined || result.isError === true) throw new Error(String(value));
    return performance.now() - begin;
  };
  const clientInfo = { name: 'bench', version: '1' };
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  const wallMs = await answered();
  return {
    wallMs,
    cpuMs: processorTime(child.pid),
    search(query) {
      send({ method: 'notifications/initialized' });
      send({ id: 2, method: 'tools/call', params: { name: 'memory_search', arguments: { query } } });
      return answered();
    },
    async close() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

/** Linux counts it in hundredths of a second. */
const TICK_MS = 10;

function processorTime(pid: number | undefined): number | null {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return null;
  // Behind the name of the program, which may hold anything: state is field 3, user and system time are 14 and 15.
  const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** What every process of this Node takes that does nothing. */
async function startNothing(): Promise<number> {
  const begin = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - begin;
}

const spread = (samples: readonly number[]) => ({
  fastest: round(Math.min(...samples)),
  ...percentiles(samples),
});

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

    const [loadAverage = 0] = loadavg();
    const nothing: number[] = [];
    const handshakes: Greeted[] = [];
    for (let index = 0; index < HANDSHAKES; index += 1) {
      nothing.push(await startNothing());
      const greeted = await greet(location.dataDir);
      await greeted.close();
      handshakes.push(greeted);
    }
    const searches: number[] = [];
    for (const query of queries.slice(0, SEARCHES)) {
      const greeted = await greet(location.dataDir);
      searches.push(await greeted.search(query));
      await greeted.close();
    }
    const nodeAlone = spread(nothing);
    const initialize = spread(handshakes.map(({ wallMs }) => wallMs));
    writeResult('mcp-start', {
      limit: { initializeMs: LIMIT },
      results: [
        {
          backend: 'pglite',
          corpus: name,
          entries: drafts.length,
          // Other work on the machine: what is far above 1 makes the fastest run and the processor time the ones to read.
          loadAverage: round(loadAverage),
          nodeAloneMs: nodeAlone,
          initializeMs: {
            ...initialize,
            timesNodeAlone: {
              fastest: round(initialize.fastest / nodeAlone.fastest, 1),
              p50: round(initialize.p50 / nodeAlone.p50, 1),
            },
          },
          initializeCpuMs: spread(handshakes.flatMap(({ cpuMs }) => cpuMs ?? [])),
          firstSearchMs: spread(searches),
        },
      ],
    });
  } finally {
    await dispose();
  }
}
