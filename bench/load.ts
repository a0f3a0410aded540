import { spawnSync } from 'node:child_process';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreLocation } from '../src/store/open-store.ts';
import { type ServerProcess, startServer } from '../test/helpers/server-process.ts';
import { type Corpus, readCorpus } from './corpus.ts';
import { percentile, round, writeResult } from './measure.ts';
import { allStores, type BenchStore } from './stores.ts';

const CONNECTIONS = 64;
/** One request in so many is a write, the others are recalls. */
const WRITE_EVERY = 5;
const ENTRIES_BEFORE = 2_000;
const BATCH = 500;
/**
 * Not measured: code is compiled, caches fill, the pool connects, and V8 enlarges its heap to what the load needs.
 */
const WARM_UP_SECONDS = 90;
const SECONDS = 60;
const RSS_AT_SECONDS = [10, 30, 60];
/** What stays is the lowest value of so many seconds: V8 lets garbage pile up between collections. */
const RSS_WINDOW_SECONDS = 10;
/** Memory that is in use stays: from the middle of the load to its end it may grow by this factor. */
const FLAT_MEMORY = 1.1;

const NAMESPACE = 'vector.user.local.load';

interface Samples {
  readonly recall: number[];
  readonly write: number[];
  readonly errors: Map<string, number>;
}

/** A real server process under constant load, on one store after the other. */
export async function run(): Promise<void> {
  const results = [];
  for (const store of await allStores()) {
    try {
      results.push(await loadOn(store));
    } finally {
      await store.dispose();
    }
  }
  writeResult('load', {
    connections: CONNECTIONS,
    seconds: SECONDS,
    mix: `1 write to ${WRITE_EVERY - 1} recalls`,
    flatMemory: FLAT_MEMORY,
    generator: 'in a process of its own on the same machine',
    results,
  });
  const isFlat = results.every(({ rssMb }) => rssMb.growth <= FLAT_MEMORY);
  if (!isFlat || results.some(({ errors }) => Object.keys(errors).length > 0)) process.exitCode = 1;
}

async function loadOn({ backend, location }: BenchStore) {
  const corpus = readCorpus('locomo');
  const server = await startServer(storeOptions(location));
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  try {
    await fill(server, corpus);
    const load = startLoad(server, agent, corpus);
    await sleep(WARM_UP_SECONDS * 1000);
    const rssBefore = residentMb(server.pid);
    load.restartMeasuring();
    const rss = await residentOverTime(server.pid);
    const samples = await load.stop();
    return {
      backend,
      corpus: corpus.name,
      entries: { before: ENTRIES_BEFORE, written: samples.write.length },
      requestsPerSecond: round((samples.recall.length + samples.write.length) / SECONDS, 1),
      recallMs: latency(samples.recall),
      writeMs: latency(samples.write),
      errors: Object.fromEntries(samples.errors),
      rssMb: { before: rssBefore, ...rss.byTime, growth: rss.growth },
    };
  } finally {
    agent.destroy();
    await server.end('SIGTERM');
  }
}

function storeOptions(location: StoreLocation): string[] {
  const place = 'databaseUrl' in location ? ['--database-url', location.databaseUrl] : [];
  return [
    '--log-level',
    'error',
    ...place,
    ...('dataDir' in location ? ['--data-dir', location.dataDir] : []),
  ];
}

async function fill(server: ServerProcess, { drafts }: Corpus): Promise<void> {
  for (let start = 0; start < ENTRIES_BEFORE; start += BATCH) {
    const memories = drafts
      .slice(start, start + BATCH)
      .map(({ content }) => ({ namespace: NAMESPACE, content }));
    const response = await server.post('/v1/memories/batch', { memories });
    if (!response.ok) throw new Error(`The entries could not be stored: ${await response.text()}`);
  }
}

/** Every connection sends its next request when it has the answer to the one before. */
function startLoad(server: ServerProcess, agent: Agent, { queries }: Corpus) {
  let samples = noSamples();
  let isStopping = false;
  let sent = 0;
  const connection = async () => {
    while (!isStopping) {
      sent += 1;
      const query = queries[sent % queries.length] ?? 'tea';
      const isWrite = sent % WRITE_EVERY === 0;
      const [path, body] = isWrite
        ? ['/v1/memories', { namespace: NAMESPACE, content: `${query} (${sent})` }]
        : ['/v1/memories/search', { query }];
      const begin = performance.now();
      const outcome = await post(`${server.url}${path}`, agent, JSON.stringify(body));
      // Looked up now: what was sent before the measuring began counts with what ends in it.
      if (outcome >= '200' && outcome < '300') {
        samples[isWrite ? 'write' : 'recall'].push(performance.now() - begin);
      } else {
        samples.errors.set(outcome, (samples.errors.get(outcome) ?? 0) + 1);
      }
    }
  };
  const connections = Array.from({ length: CONNECTIONS }, connection);
  return {
    restartMeasuring() {
      samples = noSamples();
    },
    async stop(): Promise<Samples> {
      const measured = samples;
      samples = noSamples();
      isStopping = true;
      await Promise.all(connections);
      return measured;
    },
  };
}

function noSamples(): Samples {
  return { recall: [], write: [], errors: new Map() };
}

/** The status of the answer, or why there was none. */
function post(url: string, agent: Agent, body: string): Promise<string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(String(response.statusCode)));
      response.once('error', (error) => resolve(error.message));
    });
    sent.once('error', (error) => resolve(error.message));
    sent.end(body);
  });
}

/** The memory that stays, at the seconds that are reported. */
async function residentOverTime(pid: number) {
  const begin = performance.now();
  const samples: number[] = [];
  for (let second = 1; second <= SECONDS; second += 1) {
    await sleep(second * 1000 - (performance.now() - begin));
    samples.push(residentMb(pid));
  }
  const stays = (second: number) => Math.min(...samples.slice(second - RSS_WINDOW_SECONDS, second));
  const byTime = Object.fromEntries(RSS_AT_SECONDS.map((second) => [`at${second}s`, stays(second)]));
  const [middle = 0, end = 0] = RSS_AT_SECONDS.slice(-2).map(stays);
  return { byTime: { ...byTime, highest: Math.max(...samples) }, growth: round(end / middle) };
}

/** Resident memory of a process in MB. */
function residentMb(pid: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Math.round(Number(stdout) / 1024);
}

function latency(samples: readonly number[]) {
  const [p50, p99] = [percentile(samples, 0.5), percentile(samples, 0.99)];
  return { count: samples.length, p50, p99, p99ToP50: round(p99 / p50) };
}
