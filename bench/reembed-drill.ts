import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openMemoryService } from '../src/app.ts';
import { createClient } from '../src/client/index.ts';
import { PalimpsestError } from '../src/core/errors.ts';
import { openProvider } from '../src/embedding/registry.ts';
import { OpenedMemory } from '../src/library/opened-memory.ts';
import { readCorpus } from './corpus.ts';
import {
  cosine,
  exactReference,
  freshVectors,
  type Reference,
  type ReferenceText,
  type Vectors,
} from './drill/exact-reference.ts';
import {
  kill,
  type Running,
  runCommand,
  type Server,
  start,
  startServer,
} from './drill/palimpsest-process.ts';
import { storedVectors } from './drill/stored-vectors.ts';
import { type Answered, type Question, startTraffic, type Traffic } from './drill/traffic.ts';
import { commit, percentiles, readResult, round, writeResult } from './measure.ts';
import { type BenchStore, pgliteStore, postgresStore } from './stores.ts';

/**
 * A change of the model from hashing to MiniLM in real processes, with recalls and writes all the while and three
 * SIGKILLs at random instants. Every answer is compared with the order that a loop over all vectors gives: hashing's are
 * made anew, MiniLM's, some twenty a second, are read from the store at the end, after a sample of them was compared
 * with vectors that were made outside of it.
 *
 * On PGlite the server does the work and is killed itself, so requests meet nobody for a moment. On PostgreSQL the
 * command line works too and is killed twice, one of two servers once, and the other goes on serving.
 *
 * `BENCH_CORPUS` (default `locomo`), `BENCH_BACKEND` (default both) and `BENCH_ENTRIES` (default all: the first so many)
 * choose what is run; results of other runs stay in the file.
 */

const TOP_K = 10;
const QUESTIONS = 100;
const KILLS = 3;
const PROFILE = 'drill';
const WRITE_TO = 'drill.meanwhile';
const PAUSE_MS = 100;
/** Each write asks the new model too, some twenty a second of which are to be had. */
const WRITE_PAUSE_MS = 2_000;
/** Recalls under the new model after the switch. */
const RECALLS_AFTER = 60;
/** pgvector sums float32, the reference float64: of two that are as near as this, either may come first. */
const TOLERANCE = 2e-6;
/** Stored vectors of the new model that are compared with fresh ones. */
const SAMPLE = 100;

export async function run(): Promise<void> {
  const corpusName = process.env.BENCH_CORPUS ?? 'locomo';
  const only = process.env.BENCH_BACKEND;
  for (const open of [pgliteStore, postgresStore]) {
    const store = await open();
    if (store === null) continue;
    try {
      if (only === undefined || only === store.backend) keep(await drill(store, corpusName));
    } finally {
      await store.dispose();
    }
  }
}

type Result = Awaited<ReturnType<typeof drill>>;

/** Puts a result in the place of an older one of the same corpus and backend. */
function keep(result: Result): void {
  const before = (readResult('reembed-drill')?.results ?? []) as Result[];
  const others = before.filter(
    ({ corpus, backend }) => corpus !== result.corpus || backend !== result.backend,
  );
  writeResult('reembed-drill', {
    kills: KILLS,
    topK: TOP_K,
    tolerance: TOLERANCE,
    results: [...others, result],
  });
}

async function drill(store: BenchStore, corpusName: string) {
  const corpus = readCorpus(corpusName);
  const drafts = corpus.drafts.slice(0, Number(process.env.BENCH_ENTRIES ?? corpus.drafts.length));
  const inScope = new Set(drafts.map(({ namespace }) => namespace));
  const questions = questionsOf(corpusName, corpus.queries)
    .filter(({ namespace }) => inScope.has(namespace))
    // Some of each conversation: they stand in the file one conversation after the other.
    .filter((_, index, all) => index % Math.max(1, Math.floor(all.length / QUESTIONS)) === 0)
    .slice(0, QUESTIONS);
  const place =
    'databaseUrl' in store.location
      ? ['--database-url', store.location.databaseUrl]
      : ['--data-dir', 'dataDir' in store.location ? store.location.dataDir : ''];
  await importCorpus(place, drafts);
  const began = performance.now();
  const change = await changeWhileServing(store, place, questions);
  const seconds = round((performance.now() - began) / 1_000, 0);
  const end = await lookAtEnd(store, change.traffic.written);
  const { references, sample } = await referencesOf(store, drafts, questions);
  return {
    corpus: corpusName,
    backend: store.backend,
    commit: commit(),
    entries: drafts.length,
    entriesOfCorpus: corpus.drafts.length,
    seconds,
    kills: change.kills,
    ...judge(change.traffic, references),
    storedVectorsAgainstFresh: sample,
    ...end,
  };
}

/** Data sets ask inside a namespace; made-up texts anywhere. */
function questionsOf(corpusName: string, queries: readonly string[]): Question[] {
  const file = join(import.meta.dirname, '..', '..', 'shared', 'data', corpusName, 'queries.jsonl');
  if (!existsSync(file)) return queries.map((query) => ({ query, namespace: 'conversation-0' }));
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const all = lines.map((line): Question => {
    const { query, namespace }: { query: string; namespace: string } = JSON.parse(line);
    return { query, namespace };
  });
  return all;
}

async function referencesOf(
  store: BenchStore,
  texts: readonly ReferenceText[],
  questions: readonly Question[],
): Promise<{ readonly references: readonly Reference[]; readonly sample: object }> {
  const asked = questions.map(({ query }) => query);
  const contents = texts.map(({ content }) => content);
  const hashing = openProvider({ provider: 'hashing' }).direct;
  const minilm = openProvider({ provider: 'minilm' }).direct;
  try {
    const stored = await storedVectors(store.location, minilm.modelId);
    const step = Math.max(1, Math.floor(contents.length / SAMPLE));
    const some = contents.filter((_, index) => index % step === 0);
    const sample = compareVectors(await freshVectors(minilm, some, 'document'), stored);
    const ofHashing = await freshVectors(hashing, contents, 'document');
    return {
      sample,
      references: [
        exactReference(hashing.modelId, texts, ofHashing, await freshVectors(hashing, asked, 'query')),
        exactReference(minilm.modelId, texts, stored, await freshVectors(minilm, asked, 'query')),
      ],
    };
  } finally {
    await minilm.close?.();
  }
}

function compareVectors(fresh: Vectors, stored: Vectors): object {
  let furthest = 0;
  let missing = 0;
  for (const [content, vector] of fresh) {
    const kept = stored.get(content) ?? null;
    if (vector === null && kept === null) continue;
    if (vector === null || kept === null) missing += 1;
    else furthest = Math.max(furthest, 1 - cosine(vector, kept));
  }
  return { compared: fresh.size, missing, furthestCosineDistance: furthest };
}

async function importCorpus(
  place: readonly string[],
  drafts: readonly { readonly namespace: string; readonly content: string }[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-drill-'));
  try {
    const file = join(folder, 'corpus.jsonl');
    const lines = drafts.map(({ namespace, content }) => JSON.stringify({ namespace, content }));
    writeFileSync(file, `${lines.join('\n')}\n`);
    await runCommand(['import', file, '--log-level', 'error', ...place]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Kill {
  readonly killed: 'server' | 'worker';
  readonly settled: number;
}

async function changeWhileServing(
  store: BenchStore,
  place: readonly string[],
  questions: readonly Question[],
): Promise<{ readonly traffic: Traffic; readonly kills: readonly Kill[] }> {
  const isShared = store.backend === 'postgres';
  const servers = [await startServer(place), ...(isShared ? [await startServer(place)] : [])];
  let worker: Running | undefined;
  const startWorker = () => start(['reembed', '--to', 'minilm', '--log-level', 'error', ...place]);
  try {
    const admin = createClient({ baseUrl: lastOf(servers).url });
    // Relevance is similarity alone, so that the order can be worked out without this product.
    await admin.profiles.put(PROFILE, { kind: 'boosted', recencyDecay: 0, minScore: 0, relativeCutoff: 0 });
    const urls = () => servers.map(({ url }) => url);
    const traffic = startTraffic({
      servers: urls,
      questions,
      writeTo: WRITE_TO,
      profile: PROFILE,
      topK: TOP_K,
      pauseMs: PAUSE_MS,
      writePauseMs: WRITE_PAUSE_MS,
    });
    await sleep(2_000);
    if (isShared) worker = startWorker();
    else await admin.embeddings.start({ to: 'minilm' });
    const kills: Kill[] = [];
    for (let turn = 0; turn < KILLS; turn += 1) {
      const settled = await reachShare(urls, (turn + 0.2 + Math.random() * 0.6) / KILLS);
      await sleep(Math.random() * 2_000);
      // The last server of two is never killed.
      const victim = isShared && turn % 2 === 0 ? 'worker' : 'server';
      kills.push({ killed: victim, settled });
      console.error(`kill ${turn + 1}: the ${victim}, with ${settled} entries done`);
      if (victim === 'worker' && worker !== undefined) {
        await kill(worker);
        worker = startWorker();
      } else if (servers[0] !== undefined) {
        await kill(servers[0]);
        servers[0] = await startServer(place);
      }
    }
    await reachShare(urls, 1);
    const before = traffic.answered.length;
    while (traffic.answered.length < before + RECALLS_AFTER) await sleep(PAUSE_MS);
    await traffic.stop();
    return { traffic, kills };
  } finally {
    for (const { child } of [...servers, ...(worker === undefined ? [] : [worker])]) child.kill('SIGTERM');
    await Promise.all([...servers, ...(worker === undefined ? [] : [worker])].map(({ ended }) => ended));
  }
}

function lastOf(servers: readonly Server[]): Server {
  const last = servers.at(-1);
  if (last === undefined) throw new Error('No server runs.');
  return last;
}

/** Waits until that share of the entries has its new vector, or for 1 until searches use it. Gives how many have. */
async function reachShare(urls: () => readonly string[], share: number): Promise<number> {
  for (;;) {
    const [newest] = await statusOf(urls().at(-1) ?? '');
    if (newest?.status === 'done') return newest.verification?.counts.vectors ?? 0;
    const { settled = 0, entries = 0 } = newest?.progress ?? {};
    if (share < 1 && entries > 0 && settled >= share * entries) return settled;
    await sleep(500);
  }
}

async function statusOf(baseUrl: string) {
  try {
    return (await createClient({ baseUrl }).embeddings.status()).jobs;
  } catch (error) {
    // It was just killed, and another one is on its way.
    if (PalimpsestError.isInstance(error) && error.code === 'server_unreachable') return [];
    throw error;
  }
}

/** What is in the store when everything is over. */
async function lookAtEnd(store: BenchStore, written: readonly string[]) {
  const opened = await openMemoryService({ location: store.location, embedding: {}, backfills: false });
  const memory = new OpenedMemory(opened);
  try {
    const { assignments, jobs } = await memory.embeddings.status();
    const kept = new Set<string>();
    const models: Record<string, number> = {};
    for await (const { id, content } of memory.exportEntries()) {
      kept.add(content);
      const modelId = (await memory.get(id)).embedding?.modelId ?? 'none';
      models[modelId] = (models[modelId] ?? 0) + 1;
    }
    return {
      searchedBy: assignments.filter(({ role }) => role === 'active').map(({ model }) => model.modelId),
      job: { status: jobs[0]?.job.status, ...jobs[0]?.job.verification },
      entriesByModel: models,
      acknowledgedWrites: written.length,
      lostWrites: written.filter((content) => !kept.has(content)).length,
    };
  } finally {
    await memory.close();
  }
}

/** Every answer against the order under the model that it names. */
function judge(traffic: Traffic, references: readonly Reference[]) {
  const [old, changed] = references;
  const firstChanged = traffic.answered.find(({ modelId }) => modelId === changed?.modelId);
  const verdicts = { exact: 0, equalWithinTolerance: 0, wrong: 0 };
  const wrong: object[] = [];
  const byModel: Record<string, number> = {};
  for (const answer of traffic.answered) {
    const { modelId } = answer;
    byModel[modelId ?? 'words'] = (byModel[modelId ?? 'words'] ?? 0) + 1;
    const reference = references.find((one) => one.modelId === modelId);
    const verdict = reference === undefined ? 'wrong' : verdictOf(answer, reference);
    verdicts[verdict] += 1;
    if (verdict === 'wrong' && wrong.length < 3) wrong.push({ query: answer.query, modelId });
  }
  return {
    recalls: {
      answered: traffic.answered.length,
      byModel,
      order: verdicts,
      wrong,
      failed: traffic.failures.length,
      failures: [...new Set(traffic.failures)].slice(0, 3),
      notCertifiedExact: traffic.answered.filter(({ exact }) => !exact).length,
      degraded: traffic.answered.filter(({ degraded }) => degraded).length,
      oldModelAfterTheSwitch: traffic.answered.filter(
        ({ modelId, startedAt }) =>
          modelId === old?.modelId && firstChanged !== undefined && startedAt > firstChanged.endedAt,
      ).length,
      ms: percentiles(traffic.answered.map(({ startedAt, endedAt }) => endedAt - startedAt)),
    },
    requests: {
      metNoServer: traffic.unreached(),
      answeredByAnother: traffic.failedOver(),
      unanswered: traffic.unanswered(),
    },
  };
}

function verdictOf(answer: Answered, reference: Reference): 'exact' | 'equalWithinTolerance' | 'wrong' {
  const { query, namespace, hits } = answer;
  const expected = reference.nearest(query, namespace, TOP_K);
  if (hits.length !== expected.length || new Set(hits.map(({ content }) => content)).size !== hits.length) {
    return 'wrong';
  }
  const isRight = hits.every(({ content, similarity }, place) => {
    const measured = reference.similarity(query, content);
    const isInPlace = Math.abs(measured - (expected[place]?.similarity ?? 0)) <= TOLERANCE;
    return isInPlace && Math.abs(measured - (similarity ?? -1)) <= TOLERANCE;
  });
  if (!isRight) return 'wrong';
  return hits.every(({ content }, place) => content === expected[place]?.content)
    ? 'exact'
    : 'equalWithinTolerance';
}
