import { afterEach, describe, expect, test } from 'vitest';
import { type MemoryOptions, openMemoryService } from '../../src/app.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import type { EmbeddingConfig } from '../../src/embedding/modes.ts';
import type { EmbeddingProviderConfig } from '../../src/embedding/provider-config.ts';
import { OpenedMemory } from '../../src/library/opened-memory.ts';
import { LOCAL_OPERATOR } from '../../src/service/local-operator.ts';
import { controlledProvider } from '../helpers/controlled-provider.ts';
import { type EmbeddingServer, startEmbeddingServer } from '../helpers/embedding-server.ts';
import { sharedPlace } from '../helpers/shared-place.ts';
import { testLocation } from '../helpers/test-store.ts';

/** What the modes of embedding mean to whoever writes and searches, on the backend of the suite. */

const CONTEXT = { access: LOCAL_OPERATOR };
const LOCAL = 'hashing-512-v1';
const CLOUD = 'openai/company-model/64';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function openPlace(makePlace: typeof sharedPlace = sharedPlace) {
  const place = await makePlace();
  cleanUps.push(() => place.drop());
  return async (embedding: MemoryOptions['embedding'], backfills = false) => {
    const opened = await openMemoryService({ location: place.location, embedding, backfills });
    cleanUps.push(() => opened.close());
    return { ...opened, memory: new OpenedMemory(opened) };
  };
}

async function open(embedding: MemoryOptions['embedding'], backfills = false) {
  return (await openPlace(testLocation))(embedding, backfills);
}

/** A service whose vectors are the hashing provider's, of 64 dimensions: another space than the local one's. */
async function startCloud(): Promise<EmbeddingServer> {
  const provider = createHashingProvider({ dimensions: 64 });
  const server = await startEmbeddingServer({
    vectorOf: async (text) => {
      const [vector] = await provider.embed([text], 'document');
      return [...(vector ?? new Float32Array(64).fill(1))];
    },
  });
  cleanUps.push(() => server.close());
  return server;
}

const cloudOf = (server: EmbeddingServer): EmbeddingProviderConfig => ({
  provider: 'openai',
  baseUrl: server.openAiUrl,
  model: 'company-model',
  dimensions: 64,
  // Too small for any vector, so that each query is asked.
  cache: { maxBytes: 1 },
  calls: { backoffMs: 1, maxBackoffMs: 2, breakerOpenMs: 50 },
});

const hybrid = (server: EmbeddingServer): EmbeddingConfig => ({ mode: 'hybrid', cloud: cloudOf(server) });

const notes = (texts: readonly string[]) => texts.map((content) => ({ namespace: 'notes', content }));

describe('disabled', () => {
  test('entries are written and listed, and found by words, which answers say', async () => {
    const { memory } = await open({ mode: 'disabled' });
    await memory.rememberMany(
      notes([
        'Ann works at the museum.',
        'The museum closes at noon.',
        'Bob bakes bread.',
        '我住在东京附近。',
      ]),
    );
    expect((await memory.list()).entries).toHaveLength(4);
    const { hits, degraded, exact, trace } = await memory.recall({
      query: 'Where does Ann work?',
    });
    // `where` and `does` are stop words; `work` is the stem of `works`: both words of two are found.
    expect(hits.map(({ entry, similarity }) => [entry.content, similarity])).toEqual([
      ['Ann works at the museum.', 1],
    ]);
    expect({ degraded, exact }).toEqual({ degraded: true, exact: true });
    expect(trace).toMatchObject({
      index: 'word_scan',
      embeddingModelId: null,
      measures: [{ modelId: null, insteadOf: null, namespaces: null, waiting: 0 }],
    });
    const half = await memory.recall({ query: 'museum bread' });
    expect(half.hits.map(({ similarity }) => similarity)).toEqual([0.5, 0.5, 0.5]);
    const unspaced = await memory.recall({ query: '东京' });
    expect(unspaced.hits[0]?.entry.content).toBe('我住在东京附近。');
    // Stop words alone are compared as they are.
    expect((await memory.recall({ query: 'at the' })).hits[0]?.similarity).toBe(1);
    expect((await memory.recall({ query: '?!' })).hits).toEqual([]);
    const { entries } = await memory.list({ limit: 1 });
    expect((await memory.get(entries[0]?.id ?? '')).embedding).toBeNull();
  });

  test('the exact best of a large scope, under a profile that reads more than similarity', async () => {
    const { memory } = await open({ mode: 'disabled' });
    await memory.rememberMany(
      Array.from({ length: 400 }, (_, index) => ({
        namespace: 'many',
        content: `filler about bread ${index}`,
        importance: 0.1,
      })),
    );
    await memory.remember({ namespace: 'many', content: 'unrelated but dear', importance: 1 });
    const { hits, exact } = await memory.recall({ query: 'bread oven', profile: 'weighted', topK: 1 });
    // 0.4 × 0 + 0.2 + 0.25 × 1 = 0.45 against 0.4 × 0.5 + 0.2 + 0.25 × 0.1 = 0.425
    expect(hits[0]?.entry.content).toBe('unrelated but dear');
    expect(exact).toBe(true);
  });

  test('once enabled, words are compared until every entry has its vector', async () => {
    const openAgain = await openPlace();
    const first = await openAgain({ mode: 'disabled' });
    await first.memory.rememberMany(notes(['The heron waits.', 'The kettle sings.']));
    await first.close();
    const second = await openAgain({});
    expect((await second.memory.recall({ query: 'heron' })).degraded).toBe(true);
    await second.memory.rememberMany(notes(['The walrus arrives.']));
    const { trace, hits } = await second.memory.recall({ query: 'heron' });
    expect([trace.embeddingModelId, hits[0]?.entry.content]).toEqual([null, 'The heron waits.']);
    const { job } = await second.reembed.run(CONTEXT);
    expect(job).toMatchObject({ status: 'done', previousModel: null, model: { modelId: LOCAL } });
    const after = await second.memory.recall({ query: 'heron' });
    expect(after.trace).toMatchObject({ embeddingModelId: LOCAL, degraded: false });
    expect(after.hits[0]?.entry.content).toBe('The heron waits.');
  });
});

describe('hybrid', () => {
  test('entries have a vector under both models, and a query meets those of the model that answered (CASES D7)', async () => {
    const server = await startCloud();
    const { memory } = await open(hybrid(server));
    await memory.rememberMany(notes(['The heron waits.', 'The kettle sings.']));
    const usual = await memory.recall({ query: 'heron waits' });
    expect(usual.trace).toMatchObject({ embeddingModelId: CLOUD, degraded: false });
    server.always({ kind: 'status', status: 503 });
    const fallback = await memory.recall({ query: 'the heron waits' });
    expect(fallback.hits[0]?.entry.content).toBe('The heron waits.');
    expect(fallback.hits[0]?.similarity).toBeCloseTo(1, 5);
    expect(fallback.trace).toMatchObject({
      embeddingModelId: LOCAL,
      degraded: true,
      measures: [{ modelId: LOCAL, insteadOf: CLOUD, waiting: 0 }],
    });
  });

  test('what was written in an outage is filled in after it, and searches say what they miss until then', async () => {
    const server = await startCloud();
    const { memory } = await open(hybrid(server), true);
    await memory.remember({ namespace: 'notes', content: 'The kettle sings.' });
    server.always({ kind: 'status', status: 503 });
    const { entry } = await memory.remember({ namespace: 'notes', content: 'The heron waits.' });
    expect((await memory.get(entry.id)).embedding).toEqual({ modelId: CLOUD, coverage: 'waiting' });
    expect((await memory.recall({ query: 'heron' })).hits[0]?.entry.id).toBe(entry.id);
    server.always({ kind: 'answer' });
    await expect
      .poll(async () => (await memory.get(entry.id)).embedding?.coverage, { timeout: 30_000, interval: 250 })
      .toBe('whole');
    const { hits, trace } = await memory.recall({ query: 'heron waits' });
    expect(hits[0]?.entry.id).toBe(entry.id);
    expect(trace).toMatchObject({ embeddingModelId: CLOUD, degraded: false });
  });

  test('entries from before the fallback was configured get their vectors under it', async () => {
    const server = await startCloud();
    const openAgain = await openPlace();
    const first = await openAgain({ mode: 'cloud', cloud: cloudOf(server) });
    await first.memory.rememberMany(notes(['The heron waits.', 'The kettle sings.']));
    await first.close();
    const second = await openAgain(hybrid(server), true);
    await second.memory.remember({ namespace: 'notes', content: 'The walrus arrives.' });
    await expect
      .poll(async () => (await second.reembed.status(CONTEXT)).jobs[0]?.job, { timeout: 30_000 })
      .toMatchObject({ kind: 'fill', status: 'done', model: { modelId: LOCAL } });
    server.always({ kind: 'status', status: 503 });
    const { hits, trace } = await second.memory.recall({ query: 'the heron waits' });
    expect(hits[0]?.similarity).toBeCloseTo(1, 5);
    expect(trace.embeddingModelId).toBe(LOCAL);
  });
});

describe('every way in and out', () => {
  test('speaks of the same model (CASES D14)', async () => {
    const provider = controlledProvider(createHashingProvider({ dimensions: 96 }));
    const { memory, reembed, service } = await open(provider);
    const { entry } = await memory.remember({ namespace: 'notes', content: 'written' });
    await memory.update(entry.id, { content: 'updated' });
    await memory.supersede(entry.id, { namespace: 'notes', content: 'superseding' });
    await memory.importEntries(notes(['imported']));
    await memory.rememberMany(notes(['in a batch']));
    const models = new Set<string | undefined>();
    for await (const { id } of service.exportEntries(CONTEXT, { lifecycle: 'any' })) {
      models.add((await memory.get(id)).embedding?.modelId);
    }
    models.add((await memory.recall({ query: 'written' })).trace.embeddingModelId ?? undefined);
    models.add((await reembed.status(CONTEXT)).assignments[0]?.model.modelId);
    expect([...models]).toEqual([provider.modelId]);
  });

  test('fails with 502 where the provider does, and writes and finds nothing (CASES F14)', async () => {
    const provider = controlledProvider(createHashingProvider());
    const { memory } = await open(provider);
    const { entry } = await memory.remember({ namespace: 'notes', content: 'before' });
    provider.isDown = true;
    const failed = { code: 'embedding_failed' };
    await expect(memory.recall({ query: 'before' })).rejects.toMatchObject(failed);
    await expect(memory.remember({ namespace: 'notes', content: 'x' })).rejects.toMatchObject(failed);
    await expect(memory.update(entry.id, { content: 'changed' })).rejects.toMatchObject(failed);
    expect((await memory.list()).entries.map(({ content }) => content)).toEqual(['before']);
    expect((await memory.recall({})).hits).toHaveLength(1);
  });

  test('a speaker that is embedded with the text is embedded anew when it changes', async () => {
    const { memory } = await open({ documentFields: ['metadata.speaker'] }, true);
    const draft = { namespace: 'notes', content: 'I went to the museum.' };
    const { entry } = await memory.remember({ ...draft, metadata: { speaker: 'Caroline' } });
    const similarityTo = async (query: string) =>
      (await memory.recall({ query, minScore: 0 })).hits[0]?.similarity ?? 0;
    const before = await similarityTo('Melanie museum');
    await memory.update(entry.id, { metadata: { speaker: 'Melanie' } });
    await expect
      .poll(() => similarityTo('Melanie museum'), { timeout: 20_000 })
      .toBeGreaterThan(before + 0.1);
    // A repeated write that says no speaker must not lose the one that is there.
    const named = await similarityTo('Melanie museum');
    await memory.remember(draft);
    await expect.poll(() => similarityTo('Melanie museum'), { timeout: 20_000 }).toBeCloseTo(named, 5);
  });

  test('a text that is cut says so when its entry is read', async () => {
    const server = await startCloud();
    const { memory } = await open({
      mode: 'cloud',
      cloud: { ...cloudOf(server), maxTokens: 16, longText: 'truncate' },
    });
    const { entry } = await memory.remember({ namespace: 'notes', content: 'word '.repeat(200).trim() });
    expect((await memory.get(entry.id)).embedding?.coverage).toBe('truncated');
  });
});
