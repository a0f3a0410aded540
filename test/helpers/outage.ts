import { setTimeout as sleep } from 'node:timers/promises';
import { type MemoryOptions, openMemoryService } from '../../src/app.ts';
import type { RecallTrace } from '../../src/core/ranking/trace.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import type { EmbeddingProviderConfig } from '../../src/embedding/provider-config.ts';
import { OpenedMemory } from '../../src/library/opened-memory.ts';
import { type Behaviour, startEmbeddingServer, type VectorSource } from './embedding-server.ts';

/** A service of embeddings that fails in every way in turn, under callers who recall and write all the while. */

export interface OutageOptions {
  readonly location: MemoryOptions['location'];
  /** The service's vectors, as its model makes them. */
  readonly vectorOf: VectorSource;
  readonly dimensions: number;
  /** Stored before the service first fails. */
  readonly texts: readonly string[];
  /** Stored while it fails and after. */
  readonly writes: readonly string[];
  readonly queries: readonly string[];
  readonly callers: number;
  readonly phaseMs: number;
}

export interface OutagePhase {
  readonly service: 'answers' | '429' | '500' | 'hangs';
  readonly recalls: number;
  readonly writes: number;
  /** Recalls by the model that their trace names. */
  readonly byModel: Readonly<Record<string, number>>;
  /** Requests that reached the service. */
  readonly serviceCalls: number;
  readonly slowestRecallMs: number;
}

export interface OutageResult {
  readonly phases: readonly OutagePhase[];
  /** What callers were refused with. */
  readonly errors: readonly string[];
  /** Recalls whose trace does not fit: another model, no word of what it stood in for, or a similarity of another model. */
  readonly wrongTraces: readonly string[];
  /** Entries whose vector under the service's model was missing when it was well again. */
  readonly backlog: number;
  readonly backlogFilledMs: number;
  /** Entries by how they stand under the service's model at the end. */
  readonly coverage: Readonly<Record<string, number>>;
}

const LOCAL_MODEL = 'hashing-512-v1';
/** The others recall. */
const CALLERS_PER_WRITER = 4;
/** float32 in the database, float64 here. */
const TOLERANCE = 1e-5;

const FAILURES: readonly (readonly [OutagePhase['service'], Behaviour])[] = [
  ['429', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }],
  ['500', { kind: 'status', status: 500 }],
  ['hangs', { kind: 'hang' }],
];

export async function runOutage(options: OutageOptions): Promise<OutageResult> {
  const service = await startEmbeddingServer({ vectorOf: options.vectorOf });
  const cloud: EmbeddingProviderConfig = {
    provider: 'openai',
    baseUrl: service.openAiUrl,
    model: 'drill',
    dimensions: options.dimensions,
    // Too small for any vector, so that each query is asked.
    cache: { maxBytes: 1 },
    calls: { timeoutMs: 2_000, queryTimeoutMs: 1_000, breakerOpenMs: 500 },
  };
  const opened = await openMemoryService({
    location: options.location,
    embedding: { mode: 'hybrid', cloud, local: { provider: 'hashing' } },
  });
  const memory = new OpenedMemory(opened);
  const cloudModel = `openai/drill/${options.dimensions}`;
  const run = startCallers(memory, options, cloudModel);
  try {
    await memory.rememberMany(options.texts.map((content) => ({ namespace: 'drill', content })));
    const phases: OutagePhase[] = [];
    const phase = async (name: OutagePhase['service'], behaviour: Behaviour) => {
      const callsBefore = service.requests.length;
      service.always(behaviour);
      const counted = await run.during(options.phaseMs);
      phases.push({ service: name, ...counted, serviceCalls: service.requests.length - callsBefore });
    };
    await phase('answers', { kind: 'answer' });
    for (const [name, behaviour] of FAILURES) {
      await phase(name, behaviour);
    }
    await run.stop();
    const backlog = await waiting(memory, cloudModel);
    service.always({ kind: 'answer' });
    const begin = performance.now();
    let left = backlog;
    while (left > 0) {
      await sleep(250);
      left = await waiting(memory, cloudModel);
    }
    return {
      phases,
      errors: run.errors,
      wrongTraces: run.wrongTraces,
      backlog,
      backlogFilledMs: Math.round(performance.now() - begin),
      coverage: await coverage(memory, cloudModel),
    };
  } finally {
    await run.stop();
    await memory.close();
    await service.close();
  }
}

function startCallers(memory: OpenedMemory, options: OutageOptions, cloudModel: string) {
  const errors: string[] = [];
  const wrongTraces: string[] = [];
  const hashing = createHashingProvider();
  // Some in each phase, however fast the store is.
  const writers = Math.ceil(options.callers / CALLERS_PER_WRITER);
  const writePauseMs = ((FAILURES.length + 1) * options.phaseMs * writers) / options.writes.length;
  let isOver = false;
  let isPaused = true;
  let nextWrite = 0;
  let counts = newCounts();

  async function recallOne(place: number): Promise<void> {
    const query = options.queries[place % options.queries.length] ?? '';
    const begin = performance.now();
    const { hits, trace } = await memory.recall({ query, minScore: 0, relativeCutoff: 0, topK: 3 });
    counts.recalls += 1;
    counts.slowestRecallMs = Math.max(counts.slowestRecallMs, Math.round(performance.now() - begin));
    const model = trace.embeddingModelId ?? 'words';
    counts.byModel[model] = (counts.byModel[model] ?? 0) + 1;
    const [first] = hits;
    const fault = await faultOf(trace, query, first?.entry.content ?? null, first?.similarity ?? null);
    if (fault !== null) wrongTraces.push(fault);
  }

  /** Null where the trace says what was measured. */
  async function faultOf(
    trace: RecallTrace,
    query: string,
    content: string | null,
    similarity: number | null,
  ): Promise<string | null> {
    const [measure] = trace.measures;
    const isStandIn = trace.embeddingModelId === LOCAL_MODEL;
    if (!isStandIn && trace.embeddingModelId !== cloudModel) return `model ${trace.embeddingModelId}`;
    if ((measure?.insteadOf ?? null) !== (isStandIn ? cloudModel : null)) return 'insteadOf';
    if (isStandIn && !trace.degraded) return 'not degraded';
    if (content === null || similarity === null) return 'no hit';
    const vectorOf = async (text: string) =>
      isStandIn ? ((await hashing.embed([text], 'query'))[0] ?? []) : options.vectorOf(text);
    const expected = cosine([...(await vectorOf(query))], [...(await vectorOf(content))]);
    return Math.abs(expected - similarity) <= TOLERANCE ? null : `similarity ${similarity}, not ${expected}`;
  }

  async function writeOne(): Promise<void> {
    const text = options.writes[nextWrite];
    nextWrite += 1;
    if (text === undefined) return sleep(50);
    await memory.remember({ namespace: 'drill', content: text });
    counts.writes += 1;
    await sleep(writePauseMs);
  }

  const loops = Promise.all(
    Array.from({ length: options.callers }, async (_, caller) => {
      for (let place = caller; !isOver; place += 1) {
        if (isPaused) await sleep(5);
        else
          await (caller % CALLERS_PER_WRITER === 0 ? writeOne() : recallOne(place)).catch((error: unknown) =>
            errors.push(String(error)),
          );
      }
    }),
  );
  return {
    errors,
    wrongTraces,
    async during(milliseconds: number) {
      counts = newCounts();
      isPaused = false;
      await sleep(milliseconds);
      return { ...counts, byModel: { ...counts.byModel } };
    },
    async stop() {
      isOver = true;
      await loops;
    },
  };
}

function newCounts() {
  const byModel: Record<string, number> = {};
  return { recalls: 0, writes: 0, byModel, slowestRecallMs: 0 };
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (left: readonly number[], right: readonly number[]) =>
    left.reduce((sum, value, place) => sum + value * (right[place] ?? 0), 0);
  const length = Math.sqrt(dot(a, a) * dot(b, b));
  return length === 0 ? 0 : Math.max(0, dot(a, b) / length);
}

async function waiting(memory: OpenedMemory, modelId: string): Promise<number> {
  return (await coverage(memory, modelId)).waiting ?? 0;
}

async function coverage(memory: OpenedMemory, modelId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for await (const { id } of memory.exportEntries()) {
    const { embedding } = await memory.get(id);
    const standing = embedding?.modelId === modelId ? embedding.coverage : 'other model';
    counts[standing] = (counts[standing] ?? 0) + 1;
  }
  return counts;
}
