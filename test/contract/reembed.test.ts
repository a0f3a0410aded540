import { afterEach, describe, expect, test } from 'vitest';
import { type MemoryOptions, type OpenedMemoryService, openMemoryService } from '../../src/app.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import type { ConfiguredChangeInput } from '../../src/library/model-changes.ts';
import { OpenedMemory } from '../../src/library/opened-memory.ts';
import { LOCAL_OPERATOR } from '../../src/service/local-operator.ts';
import { controlledProvider } from '../helpers/controlled-provider.ts';
import { sharedPlace } from '../helpers/shared-place.ts';
import { testLocation } from '../helpers/test-store.ts';

/** A change of the embedding model, as an administrator and a user see it, on the backend of the suite. */

const CONTEXT = { access: LOCAL_OPERATOR };
const OLD = 'hashing-512-v1';
const NEW = 'hashing-256-v1';
const TO_NEW = { provider: 'hashing', dimensions: 256 };

type Opened = OpenedMemoryService & { readonly memory: OpenedMemory };

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Opens one place again and again. In a directory where it has to outlive a process. */
async function openPlace(makePlace: typeof sharedPlace = sharedPlace) {
  const place = await makePlace();
  cleanUps.push(() => place.drop());
  return async (
    embedding: MemoryOptions['embedding'] = { local: { provider: 'hashing' } },
    options: Partial<MemoryOptions> = {},
  ): Promise<Opened> => {
    const opened = await openMemoryService({
      location: place.location,
      embedding,
      backfills: false,
      ...options,
    });
    cleanUps.push(() => opened.close());
    return { ...opened, memory: new OpenedMemory(opened) };
  };
}

async function openOne(embedding?: MemoryOptions['embedding'], options?: Partial<MemoryOptions>) {
  return (await openPlace(testLocation))(embedding, options);
}

const TEXTS = Array.from(
  { length: 120 },
  (_, index) =>
    `${['The heron', 'Her sister', 'A kettle', 'The museum'][index % 4]} ${['waits', 'sings', 'closes', 'travels'][index % 3]} near bridge ${index} in ${['Lyon', 'Oslo', 'Porto'][index % 3]}.`,
);

async function fill({ memory }: Opened): Promise<void> {
  await memory.rememberMany(TEXTS.map((content) => ({ namespace: 'town.notes', content })));
}

const QUERIES = ['Where does the heron wait?', 'her sister in Oslo', 'kettle near bridge 6', 'museum closes'];

async function rankings({ memory }: Opened) {
  const found = [];
  for (const query of QUERIES) {
    const { hits, trace } = await memory.recall({ query, topK: 10, minScore: 0, relativeCutoff: 0 });
    found.push({
      modelId: trace.embeddingModelId,
      degraded: trace.degraded,
      hits: hits.map(({ entry, similarity }) => [entry.content, similarity]),
    });
  }
  return found;
}

/** The rankings of a store that never knew another model. */
async function freshRankings(provider: EmbeddingProvider) {
  const fresh = await openOne(provider);
  await fill(fresh);
  return rankings(fresh);
}

describe('a change of the model', () => {
  test('searches use the old model exactly until the switch, and the new one exactly after it (CASES D8)', async () => {
    const opened = await openOne();
    await fill(opened);
    const before = await rankings(opened);
    expect(before[0]?.modelId).toBe(OLD);
    const job = await opened.reembed.start(CONTEXT, { to: TO_NEW, switchesItself: false });
    expect(job).toMatchObject({ status: 'running', scope: '*', model: { modelId: NEW, dimensions: 256 } });
    const seen: number[] = [];
    const { progress } = await opened.reembed.run(CONTEXT, job.id, {
      batchSize: 16,
      onProgress: ({ settled }) => seen.push(settled),
    });
    expect(progress).toMatchObject({ entries: 120, settled: 120, refused: 0, outage: null });
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(await rankings(opened)).toEqual(before);

    const { counts, overlap } = await opened.reembed.verify(CONTEXT);
    expect(counts).toEqual({ entries: 120, vectors: 120, waiting: 0, empty: 0, refused: 0, unseen: 0 });
    expect(overlap?.queries).toBe(20);
    expect(overlap?.mean).toBeGreaterThan(0.3);

    const done = await opened.reembed.switchOver(CONTEXT);
    expect(done).toMatchObject({ status: 'done', previousModel: { modelId: OLD } });
    const after = await rankings(opened);
    expect(after).toEqual(await freshRankings(createHashingProvider({ dimensions: 256 })));
    expect(after).not.toEqual(before);
  });

  test('another process switches at once, whatever it is configured with', async () => {
    const open = await openPlace();
    const first = await open();
    await fill(first);
    await first.reembed.start(CONTEXT, { to: TO_NEW });
    await first.reembed.run(CONTEXT);
    const { trace } = await first.memory.recall({ query: 'heron' });
    expect(trace.embeddingModelId).toBe(NEW);
    await first.close();
    const second = await open({ local: { provider: 'hashing' } });
    expect((await second.memory.recall({ query: 'heron' })).trace).toMatchObject({
      embeddingModelId: NEW,
      degraded: false,
    });
    const { entry } = await second.memory.remember({ namespace: 'town.notes', content: 'A new heron.' });
    expect((await second.memory.get(entry.id)).embedding).toEqual({ modelId: NEW, coverage: 'whole' });
  });

  test('entries written, changed and purged meanwhile are right under both models', async () => {
    const opened = await openOne();
    await fill(opened);
    const { entries } = await opened.memory.list({ limit: 3 });
    const [changed, purged, forgotten] = entries.map(({ id }) => id);
    const job = await opened.reembed.start(CONTEXT, { to: TO_NEW, switchesItself: false });
    await opened.memory.update(changed ?? '', { content: 'An otter replaced this.' });
    await opened.memory.purge(purged ?? '');
    await opened.memory.forget(forgotten ?? '');
    await opened.memory.remember({ namespace: 'town.notes', content: 'Written meanwhile: a lighthouse.' });
    await opened.memory.remember({ namespace: 'town.notes', content: '?!' });
    await opened.reembed.run(CONTEXT, job.id, { batchSize: 50 });
    // Caught up, as this process sees within a second: a write now embeds under both at once.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const { entry } = await opened.memory.remember({ namespace: 'town.notes', content: 'A late walrus.' });
    expect((await opened.reembed.verify(CONTEXT, job.id)).counts).toEqual({
      // 120 - 1 purged + 2 + 1; `?!` has nothing to embed
      entries: 122,
      vectors: 121,
      waiting: 0,
      empty: 1,
      refused: 0,
      unseen: 0,
    });
    await opened.reembed.switchOver(CONTEXT, job.id);
    const first = async (query: string) =>
      (await opened.memory.recall({ query, minScore: 0 })).hits[0]?.entry.content;
    expect(await first('otter')).toBe('An otter replaced this.');
    expect(await first('lighthouse')).toBe('Written meanwhile: a lighthouse.');
    expect(await first('walrus')).toBe('A late walrus.');
    expect((await opened.memory.get(entry.id)).embedding?.modelId).toBe(NEW);
    const restored = await opened.memory.restore(forgotten ?? '');
    expect((await opened.memory.recall({ query: restored.content })).hits[0]?.entry.id).toBe(forgotten);
  });

  test('it switches by itself when it is complete, and removes the old vectors if it was told to', async () => {
    const opened = await openOne();
    await fill(opened);
    await opened.reembed.start(CONTEXT, { to: TO_NEW, purgesOld: true });
    const { job } = await opened.reembed.run(CONTEXT, undefined, { workers: 3, batchSize: 8 });
    expect(job).toMatchObject({ status: 'done', verification: { counts: { vectors: 120, unseen: 0 } } });
    // Nothing is left for a purge.
    expect(await opened.reembed.purge(CONTEXT)).toBe(0);
  });

  test('the background of any process carries it through', async () => {
    const opened = await openOne(undefined, { backfills: true });
    await fill(opened);
    const { id } = await opened.reembed.start(CONTEXT, { to: TO_NEW });
    await expect
      .poll(
        async () => (await opened.reembed.status(CONTEXT)).jobs.find(({ job }) => job.id === id)?.job.status,
        {
          timeout: 20_000,
        },
      )
      .toBe('done');
    expect((await opened.memory.recall({ query: 'heron' })).trace.embeddingModelId).toBe(NEW);
  });

  test('it pauses, goes on, and can be given up', async () => {
    const opened = await openOne();
    await fill(opened);
    const { id } = await opened.reembed.start(CONTEXT, { to: TO_NEW });
    await opened.reembed.pause(CONTEXT);
    const stop = new AbortController();
    const running = opened.reembed.run(CONTEXT, id, { signal: stop.signal });
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect((await opened.reembed.status(CONTEXT)).jobs[0]).toMatchObject({
      job: { status: 'paused' },
      progress: { settled: 0 },
    });
    stop.abort();
    await running;
    await opened.reembed.resume(CONTEXT);
    expect((await opened.reembed.start(CONTEXT, { to: TO_NEW })).id).toBe(id);
    await expect(
      opened.reembed.start(CONTEXT, { to: { provider: 'hashing', dimensions: 128 } }),
    ).rejects.toMatchObject({ code: 'conflict' });
    await opened.reembed.cancel(CONTEXT);
    expect((await opened.memory.recall({ query: 'heron' })).trace).toMatchObject({
      embeddingModelId: OLD,
      degraded: false,
    });
    await expect(opened.reembed.resume(CONTEXT, id)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('it can be undone, and entries written since are found by the old model too', async () => {
    const opened = await openOne();
    await fill(opened);
    const before = await rankings(opened);
    await opened.reembed.start(CONTEXT, { to: TO_NEW });
    await opened.reembed.run(CONTEXT);
    const { entry } = await opened.memory.remember({ namespace: 'town.notes', content: 'A walrus since.' });
    const back = await opened.reembed.rollBack(CONTEXT);
    expect(back.model.modelId).toBe(OLD);
    await opened.reembed.run(CONTEXT, back.id);
    expect((await opened.memory.recall({ query: 'walrus' })).hits[0]?.entry.id).toBe(entry.id);
    await opened.memory.purge(entry.id);
    expect(await rankings(opened)).toEqual(before);
    expect(await opened.reembed.purge(CONTEXT)).toBe(120);
  });

  test('an immediate rollback says what it does not find yet', async () => {
    const opened = await openOne();
    await fill(opened);
    await opened.reembed.start(CONTEXT, { to: TO_NEW });
    await opened.reembed.run(CONTEXT);
    await opened.memory.remember({ namespace: 'town.notes', content: 'A walrus since.' });
    expect(await opened.reembed.rollBack(CONTEXT, { immediately: true })).toMatchObject({ status: 'done' });
    const { trace } = await opened.memory.recall({ query: 'walrus' });
    expect(trace).toMatchObject({ embeddingModelId: OLD, degraded: true, measures: [{ waiting: 1 }] });
  });

  test('an immediate rollback of one that was paused before it had looked at anything leaves nothing unseen', async () => {
    const opened = await openOne();
    await fill(opened);
    await opened.reembed.start(CONTEXT, { to: TO_NEW });
    await opened.reembed.run(CONTEXT);
    await opened.memory.remember({ namespace: 'town.notes', content: 'A walrus since.' });
    const { id } = await opened.reembed.rollBack(CONTEXT);
    await opened.reembed.pause(CONTEXT, id);
    expect(await opened.reembed.rollBack(CONTEXT, { immediately: true })).toMatchObject({
      id,
      status: 'done',
    });
    const { trace } = await opened.memory.recall({ query: 'walrus' });
    expect(trace).toMatchObject({ embeddingModelId: OLD, degraded: true, measures: [{ waiting: 1 }] });
  });

  test('a namespace can have a model of its own, and one search measures each by its own', async () => {
    const opened = await openOne();
    await fill(opened);
    await opened.memory.remember({ namespace: 'team.a.x', content: 'The heron of the team.' });
    await opened.memory.remember({ namespace: 'team.a', content: 'The heron beside it.' });
    await opened.reembed.start(CONTEXT, { to: TO_NEW, scope: 'team.a.*' });
    const { progress } = await opened.reembed.run(CONTEXT);
    expect(progress.entries).toBe(1);
    const { hits, trace } = await opened.memory.recall({
      query: 'the heron of the team',
      namespaces: ['team.*'],
    });
    expect(trace.measures).toEqual([
      { modelId: OLD, insteadOf: null, namespaces: ['team.a'], waiting: 0 },
      { modelId: NEW, insteadOf: null, namespaces: ['team.a.x'], waiting: 0 },
    ]);
    expect(trace).toMatchObject({ degraded: false, exact: true });
    expect(hits[0]?.entry.content).toBe('The heron of the team.');
    // A change of the rest leaves it alone.
    await opened.reembed.start(CONTEXT, { to: { provider: 'hashing', dimensions: 128 } });
    expect((await opened.reembed.run(CONTEXT)).progress.entries).toBe(121);
    const { entries } = await opened.memory.list({ namespaces: ['team.a.x'] });
    expect((await opened.memory.get(entries[0]?.id ?? '')).embedding?.modelId).toBe(NEW);
    await expect(opened.reembed.start(CONTEXT, { to: TO_NEW, scope: 'team.*.x' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  test('only an administrator may look at it or change it (CASES G16)', async () => {
    const opened = await openOne();
    const access = {
      principal: { tenantId: 'default', userId: 'ann', isAdmin: false, isTenantWide: false },
      readGrants: [],
      writeGrants: [],
    };
    await expect(opened.reembed.status({ access })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(opened.reembed.start({ access }, { to: TO_NEW })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(opened.reembed.purge({ access })).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('a model that another program brought', () => {
  const other = (modelId: string, dimensions: number): EmbeddingProvider => ({
    ...createHashingProvider({ dimensions }),
    modelId,
    dimensions,
  });

  test('can be replaced: writes, searches, updates and feedback work at once, old entries are found (CASES D6)', async () => {
    const open = await openPlace();
    const first = await open(other('own-384', 384));
    await fill(first);
    await first.close();
    const second = await open(other('own-768', 768));
    const { entry } = await second.memory.remember({ namespace: 'town.notes', content: 'A walrus arrives.' });
    const { hits, trace, traceId } = await second.memory.recall({ query: 'heron near bridge 0' });
    expect(hits[0]?.entry.content).toContain('bridge 0 ');
    expect(trace).toMatchObject({ degraded: true, measures: [{ modelId: null, insteadOf: 'own-384' }] });
    expect((await second.memory.recall({ query: 'walrus' })).hits[0]?.entry.id).toBe(entry.id);
    await second.memory.update(entry.id, { content: 'A seal arrives.' });
    expect((await second.memory.recall({ query: 'seal' })).hits[0]?.entry.id).toBe(entry.id);
    const memoryId = hits[0]?.entry.id ?? '';
    expect((await second.memory.feedback({ memoryId, traceId, signal: 'useful' })).recorded).toBe(true);
    await second.reembed.start(CONTEXT);
    const { job } = await second.reembed.run(CONTEXT);
    expect(job).toMatchObject({ status: 'done', model: { modelId: 'own-768' } });
    expect((await second.memory.recall({ query: 'seal' })).trace).toMatchObject({
      embeddingModelId: 'own-768',
      degraded: false,
    });
  });
});

describe('a provider that fails in the background', () => {
  test('is left alone, longer each time, and everything is filled in after it recovers', async () => {
    const provider = controlledProvider(createHashingProvider({ dimensions: 128 }));
    const opened = await openOne(provider);
    const size = 2_000;
    for (let from = 0; from < size; from += 500) {
      await opened.memory.rememberMany(
        Array.from({ length: 500 }, (_, index) => ({ namespace: 'many', content: `entry ${from + index}` })),
      );
    }
    await opened.reembed.start(CONTEXT, { to: TO_NEW });
    await opened.reembed.run(CONTEXT);
    provider.isDown = true;
    const back = await opened.reembed.rollBack(CONTEXT);
    await opened.memory.rememberMany(
      Array.from({ length: 400 }, (_, index) => ({ namespace: 'many', content: `later ${index}` })),
    );
    const calls = provider.calls;
    const begin = performance.now();
    const stop = new AbortController();
    const running = opened.reembed.run(CONTEXT, back.id, { signal: stop.signal, workers: 4, batchSize: 10 });
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const seconds = (performance.now() - begin) / 1_000;
    // Delays of at least 0.5, 1, 2, 4 … s between rounds; a round is two calls of each worker at most.
    const rounds = 1 + Math.floor(Math.log2(1 + seconds / 0.5));
    expect(provider.calls - calls).toBeLessThanOrEqual(rounds * 2 * 4);
    const [line] = (await opened.reembed.status(CONTEXT)).jobs;
    expect(line?.progress?.outage).toMatchObject({ message: 'The service is down.' });
    expect(line?.progress?.settled).toBe(size);
    provider.isDown = false;
    await expect
      .poll(async () => (await opened.reembed.status(CONTEXT)).jobs[0]?.job.status, { timeout: 60_000 })
      .toBe('done');
    stop.abort();
    await running;
    expect((await opened.memory.recall({ query: 'later 7' })).trace).toMatchObject({
      embeddingModelId: provider.modelId,
      degraded: false,
    });
  }, 120_000);

  test('a text that the model refuses is found out, and a person decides', async () => {
    const provider = controlledProvider(createHashingProvider({ dimensions: 128 }));
    const open = await openPlace();
    const first = await open();
    await fill(first);
    await first.memory.remember({ namespace: 'town.notes', content: 'A poisoned heron.' });
    await first.close();
    const opened = await open(provider);
    provider.poison = 'poisoned';
    const calls = provider.calls;
    await opened.reembed.start(CONTEXT);
    const { job, progress } = await opened.reembed.run(CONTEXT);
    expect(progress).toMatchObject({ entries: 121, settled: 121, refused: 1 });
    // Four batches of 32; the one with the text: itself, then a harmless text and both halves at each of 5 halvings,
    // and a harmless text before it is refused.
    expect(provider.calls - calls).toBeLessThanOrEqual(4 + 5 * 3 + 1);
    expect(job.status).toBe('running');
    await expect(opened.reembed.switchOver(CONTEXT)).rejects.toMatchObject({ code: 'conflict' });
    const { entries } = await opened.memory.list({ text: 'poisoned' });
    provider.poison = null;
    expect(await opened.reembed.retryRefused(CONTEXT)).toBe(1);
    await opened.reembed.run(CONTEXT);
    expect((await opened.memory.get(entries[0]?.id ?? '')).embedding).toEqual({
      modelId: provider.modelId,
      coverage: 'whole',
    });
  });
});

describe('the library', () => {
  test('changes the model in one call, shows how far it is, and changes back', async () => {
    const opened = await openOne();
    const { memory } = opened;
    await fill(opened);
    const before = await rankings(opened);
    const seen: number[] = [];
    const { job, progress } = await memory.reembed(
      Object.freeze({ to: Object.freeze(TO_NEW) }),
      Object.freeze({ onProgress: ({ settled }: { settled: number }) => void seen.push(settled) }),
    );
    expect(job).toMatchObject({ status: 'done', model: { modelId: NEW }, previousModel: { modelId: OLD } });
    expect(progress).toMatchObject({ entries: 120, settled: 120 });
    expect(seen.at(-1)).toBe(120);
    expect((await memory.embeddings.status()).assignments).toMatchObject([
      { role: 'active', scope: '*', model: { modelId: NEW } },
    ]);

    const back = await memory.embeddings.rollBack();
    await memory.embeddings.run(back.id);
    expect(await rankings(opened)).toEqual(before);
  });

  test('stops on a signal, pauses, resumes, compares and switches when it is told to', async () => {
    const opened = await openOne();
    const { embeddings } = opened.memory;
    await fill(opened);
    const { id } = await embeddings.start({ to: TO_NEW, switchesItself: false });
    const stopped = await embeddings.run(id, { signal: AbortSignal.abort() });
    expect(stopped.job.status).toBe('running');
    expect((await embeddings.pause(id)).status).toBe('paused');
    expect((await embeddings.resume()).status).toBe('running');
    await expect(embeddings.switchOver()).rejects.toMatchObject({ code: 'conflict' });
    await embeddings.run();
    const { counts, overlap } = await embeddings.verify(id, { queries: QUERIES });
    expect([counts.vectors, overlap?.queries]).toEqual([120, QUERIES.length]);
    expect((await rankings(opened))[0]?.modelId).toBe(OLD);
    expect((await embeddings.switchOver(id)).status).toBe('done');
    expect((await rankings(opened))[0]?.modelId).toBe(NEW);
    expect(await embeddings.purge()).toBe(120);
    expect((await embeddings.job(id)).progress).toBeNull();
  });

  test.each([
    [{ to: 'crystal-ball' }, 'invalid_input', 'to'],
    [{ to: { provider: 'openai' } }, 'invalid_input', 'to'],
    [{ scope: 'vec*' }, 'invalid_input', 'scope'],
    [{ namespace: 'a.b' }, 'invalid_input', 'namespace'],
    [{ to: 'hashing' }, 'conflict', undefined],
  ])('refuses %j', async (input, code, path) => {
    const opened = await openOne();
    await fill(opened);
    // As a caller without types may.
    const untyped = input as ConfiguredChangeInput;
    const refused: unknown = await opened.memory.embeddings.start(untyped).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code });
    if (path !== undefined) expect(refused).toMatchObject({ details: [{ path }] });
    expect((await opened.memory.embeddings.status()).jobs).toEqual([]);
  });

  test('knows no job by an id that is none', async () => {
    const { embeddings } = (await openOne()).memory;
    for (const id of ['x', '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f']) {
      await expect(embeddings.pause(id)).rejects.toMatchObject({ code: 'not_found' });
    }
    await expect(embeddings.pause()).rejects.toMatchObject({ code: 'conflict' });
  });
});
