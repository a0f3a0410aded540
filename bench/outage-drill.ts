import { openMemoryService } from '../src/app.ts';
import { createHashingProvider } from '../src/embedding/hashing.ts';
import { OpenedMemory } from '../src/library/opened-memory.ts';
import { startEmbeddingServer } from '../test/helpers/embedding-server.ts';
import { runOutage } from '../test/helpers/outage.ts';
import { minilmVectors } from '../test/helpers/real-vectors.ts';
import { readCorpus } from './corpus.ts';
import { round, writeResult } from './measure.ts';
import { allStores, type BenchStore } from './stores.ts';

/**
 * What callers see of a service of embeddings that fails: sixteen of them recall and write in hybrid mode while a
 * service with MiniLM's vectors answers 429, then 500, then nothing. And how a backlog of 10,000 entries, written while
 * the service was down for a minute, is filled in after it.
 */

const CALLERS = 16;
const PHASE_MS = 6_000;
const TEXTS = 30;
const WRITES = 60;
const QUERIES = 15;
const BACKLOG = 10_000;
const DOWN_MS = 60_000;
const BATCH = 500;

export async function run(): Promise<void> {
  const vectorOf = await minilmVectors();
  const { drafts, queries } = readCorpus('locomo');
  const contents = [...new Set(drafts.map(({ content }) => content))];
  const texts = contents.slice(0, TEXTS);
  const writes = contents.slice(TEXTS, TEXTS + WRITES);
  const asked = queries.slice(0, QUERIES);
  // The service is to fail as the drill says, and not to be slow besides: its vectors are made before.
  for (const text of [...texts, ...writes, ...asked]) await vectorOf(text);
  const outages = [];
  for (const store of await allStores()) {
    try {
      const options = { texts, writes, queries: asked, callers: CALLERS, phaseMs: PHASE_MS };
      const { location, backend } = store;
      const { errors, wrongTraces, ...found } = await runOutage({
        location,
        vectorOf,
        dimensions: 384,
        ...options,
      });
      outages.push({
        backend,
        errors: errors.length,
        wrongTraces: wrongTraces.length,
        examples: [...new Set([...errors, ...wrongTraces])].slice(0, 3),
        ...found,
      });
    } finally {
      await store.dispose();
    }
  }
  // Both at once: they mostly wait for the minute to be over.
  const backlogs = await Promise.all(
    (await allStores()).map(async (store) => {
      try {
        return await fillBacklog(store);
      } finally {
        await store.dispose();
      }
    }),
  );
  writeResult('outage-drill', { callers: CALLERS, phaseMs: PHASE_MS, outages, backlogs });
}

/** The service's vectors are hashing's of another length here: 10,000 of MiniLM's would measure MiniLM. */
async function fillBacklog({ backend, location }: BenchStore) {
  const provider = createHashingProvider({ dimensions: 384 });
  const service = await startEmbeddingServer({
    vectorOf: async (text) => [
      ...((await provider.embed([text], 'document'))[0] ?? new Float32Array(384).fill(1)),
    ],
  });
  const cloud = { provider: 'openai', baseUrl: service.openAiUrl, model: 'drill', dimensions: 384 };
  const opened = await openMemoryService({
    location,
    embedding: { mode: 'hybrid', cloud, local: { provider: 'hashing' } },
  });
  const memory = new OpenedMemory(opened);
  try {
    await memory.remember({ namespace: 'drill', content: 'The first entry.' });
    const callsWhileUp = service.requests.length;
    service.always({ kind: 'status', status: 503 });
    const down = performance.now();
    for (let from = 0; from < BACKLOG; from += BATCH) {
      await memory.rememberMany(
        Array.from({ length: BATCH }, (_, index) => ({
          namespace: 'drill',
          content: `Entry ${from + index} of a long outage.`,
        })),
      );
    }
    const writtenMs = performance.now() - down;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, DOWN_MS - writtenMs)));
    const callsWhileDown = service.requests.length - callsWhileUp;
    service.always({ kind: 'answer' });
    const up = performance.now();
    let waiting = Number.POSITIVE_INFINITY;
    while (waiting > 0) {
      const { trace } = await memory.recall({ query: 'a long outage' });
      waiting = trace.measures[0]?.waiting ?? 0;
      if (trace.embeddingModelId !== 'openai/drill/384') waiting = Number.POSITIVE_INFINITY;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    const filledMs = performance.now() - up;
    return {
      backend,
      entries: BACKLOG,
      downSeconds: round(Math.max(DOWN_MS, writtenMs) / 1_000, 0),
      writeMs: round(writtenMs, 0),
      callsWhileDown,
      filledMs: round(filledMs, 0),
      entriesPerSecond: round((BACKLOG * 1_000) / filledMs, 0),
      callsToFill: service.requests.length - callsWhileUp - callsWhileDown,
    };
  } finally {
    await memory.close();
    await service.close();
  }
}
