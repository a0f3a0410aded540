import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WEIGHTED_PROFILE } from '../../src/core/defaults.ts';
import type { MemoryHit } from '../../src/core/types.ts';
import type { OpenedMemory } from '../../src/library/opened-memory.ts';
import { similarityProvider } from '../helpers/similarity-provider.ts';
import { DAY_MS, openTestMemory, type TestMemory } from '../helpers/test-memory.ts';

/** Recall as a user sees it, on the backend of the suite. Contents start with their similarity to any query. */

let opened: TestMemory;
let memory: OpenedMemory;

beforeAll(async () => {
  opened = await openTestMemory(similarityProvider());
  memory = opened.memory;
});

afterAll(() => opened.close());

const contents = (hits: readonly MemoryHit[]) => hits.map(({ entry }) => entry.content);

async function store(namespace: string, texts: readonly string[]): Promise<void> {
  await memory.rememberMany(texts.map((content) => ({ namespace, content })));
}

describe('both numbers', () => {
  test('similarity is what was measured, relevance what it is worth; the breakdown adds up to it', async () => {
    await store('both.a', ['0.8 tea']);
    const { hits, exact, profile } = await memory.recall({ query: 'q', namespaces: ['both.a'] });
    const [hit] = hits;
    expect(profile).toBe('boosted');
    expect(exact).toBe(true);
    expect(hit?.similarity).toBeCloseTo(0.8, 6);
    // 0.8 × (1 + 0.05 / (1 + 0 days)) = 0.84
    expect(hit?.relevance).toBeCloseTo(0.84, 6);
    expect(hit?.score).toBe(hit?.relevance);
    const sum = hit?.breakdown?.factors.reduce((total, { contribution }) => total + contribution, 0);
    expect(Math.abs((sum ?? 0) - (hit?.score ?? 1))).toBeLessThan(1e-9);
  });

  test('a weighted score is no relevance', async () => {
    await store('both.b', ['0.8 tea']);
    const { hits } = await memory.recall({ query: 'q', namespaces: ['both.b'], profile: 'weighted' });
    // 0.40 × 0.8 + 0.20 × 1 + 0.25 × 0.5 + 0.15 × 0 = 0.645
    expect(hits[0]?.score).toBeCloseTo(0.645, 6);
    expect(hits[0]?.relevance).toBeNull();
  });

  test('browsing has no numbers and goes newest first', async () => {
    await store('both.c', ['0.1 older']);
    opened.advance(1000);
    await store('both.c', ['0.1 newer', 'nothing to embed']);
    opened.advance(1000);
    const { hits, trace } = await memory.recall({ namespaces: ['both.c'], topK: 3 });
    expect(contents(hits).at(-1)).toBe('0.1 older');
    expect(hits.map(({ similarity, score, relevance }) => [similarity, score, relevance])).toEqual(
      Array.from({ length: 3 }, () => [null, null, null]),
    );
    expect(trace.query).toBeNull();
  });

  test('a weighted recall without a query counts every similarity as 1', async () => {
    await store('both.d', ['0.1 tea']);
    const { hits } = await memory.recall({ namespaces: ['both.d'], profile: 'weighted' });
    // 0.40 × 1 + 0.20 × 1 + 0.25 × 0.5 + 0
    expect(hits[0]?.score).toBeCloseTo(0.725, 9);
  });
});

describe('the result is exact', () => {
  test('a rule’s bonus lifts an entry from far beyond the first fetch', async () => {
    const fillers = Array.from({ length: 300 }, (_, index) => `${(0.6 + index / 10_000).toFixed(4)} filler`);
    await store('exact.plain', fillers);
    await store('exact.dear.sub', ['0.45 dear']);
    await memory.rules.put({ pattern: 'exact.dear', bonus: 0.9 });
    const { hits, exact } = await memory.recall({ query: 'q', namespaces: ['exact.*'], topK: 2 });
    // 0.45 × (1 + 0.9 + 0.05) = 0.8775 against 0.6299 × 1.05 = 0.661
    expect(contents(hits)).toEqual(['0.45 dear', '0.6299 filler']);
    expect(exact).toBe(true);
    expect(hits[0]?.breakdown?.factors).toContainEqual(
      expect.objectContaining({ signal: 'bonus', raw: 0.9, pattern: 'exact.dear' }),
    );
  });

  test('importance lifts an entry from far beyond the first fetch', async () => {
    await store(
      'exact.weighted',
      Array.from({ length: 300 }, (_, index) => `${(0.6 + index / 10_000).toFixed(4)} filler`),
    );
    await memory.remember({ namespace: 'exact.weighted', content: '0.4 foundation', importance: 1 });
    const request = { query: 'q', namespaces: ['exact.weighted'], profile: 'weighted' };
    const { hits, exact } = await memory.recall({ ...request, topK: 1 });
    // 0.4 × 0.4 + 0.2 + 0.25 × 1 = 0.61 against 0.4 × 0.6299 + 0.2 + 0.25 × 0.5 = 0.577
    expect(contents(hits)).toEqual(['0.4 foundation']);
    expect(exact).toBe(true);
  });

  test('top_k is a prefix of top_k + 1', async () => {
    await store(
      'prefix',
      Array.from({ length: 90 }, (_, index) => `${(0.5 + index / 1000).toFixed(3)} text`),
    );
    const all = await memory.recall({ query: 'q', namespaces: ['prefix'], topK: 20 });
    for (const topK of [1, 2, 7, 19]) {
      const some = await memory.recall({ query: 'q', namespaces: ['prefix'], topK });
      expect(contents(some.hits)).toEqual(contents(all.hits).slice(0, topK));
    }
  });
});

describe('lines', () => {
  test('the threshold reads relevance: a raw 0.39 passes 0.4 with its bonus, and a raw 0.38 does not', async () => {
    await memory.rules.put({ pattern: 'lines.gate', bonus: 0.05 });
    await store('lines.gate', ['0.39 passes', '0.38 fails']);
    opened.advance(10_000 * DAY_MS);
    const { hits, trace } = await memory.recall({ query: 'q', namespaces: ['lines.gate'] });
    // 0.39 × 1.05 = 0.4095; 0.38 × 1.05 = 0.399; recency is 0.05 / 10,001 of it
    expect(contents(hits)).toEqual(['0.39 passes']);
    expect(trace.cut).toMatchObject([{ reason: 'min_score', threshold: 0.4 }]);
    opened.advance(-10_000 * DAY_MS);
  });

  test('the relative cutoff trims the tail, and 0 switches both lines off', async () => {
    await store('lines.tail', ['0.999 a', '0.998 b', '0.994 c', '0.688 d']);
    const usual = await memory.recall({ query: 'q', namespaces: ['lines.tail'] });
    expect(contents(usual.hits)).toEqual(['0.999 a', '0.998 b', '0.994 c']);
    expect(usual.trace.cut).toMatchObject([{ reason: 'relative_cutoff' }]);
    const open = await memory.recall({
      query: 'q',
      namespaces: ['lines.tail'],
      minScore: 0,
      relativeCutoff: 0,
    });
    expect(contents(open.hits)).toHaveLength(4);
  });

  test('a single bad candidate is neither lifted to 1 nor pressed to 0', async () => {
    await store('lines.single', ['0.3 only']);
    const strict = await memory.recall({ query: 'q', namespaces: ['lines.single'] });
    expect(strict.hits).toEqual([]);
    const { hits } = await memory.recall({ query: 'q', namespaces: ['lines.single'], minScore: 0 });
    expect(hits[0]?.relevance).toBeCloseTo(0.315, 6);
  });
});

describe('equal contents', () => {
  test('are one hit and take no slot; the others stand in metadata.duplicates', async () => {
    for (const name of ['a', 'b', 'c']) {
      await memory.remember({ namespace: `dup.${name}`, content: '0.9 same', metadata: { from: name } });
    }
    await store('dup.a', ['0.8 other']);
    await memory.rules.put({ pattern: 'dup.b', bonus: 0.1 });
    const { hits } = await memory.recall({ query: 'q', namespaces: ['dup.*'], topK: 2 });
    expect(contents(hits)).toEqual(['0.9 same', '0.8 other']);
    expect(hits[0]?.entry.namespace).toBe('dup.b');
    expect(hits[0]?.duplicates.map(({ namespace }) => namespace).toSorted()).toEqual(['dup.a', 'dup.c']);
    expect(hits[0]?.entry.metadata).toMatchObject({
      from: 'b',
      duplicates: [
        { namespace: expect.stringMatching(/^dup\.[ac]$/), similarity: expect.closeTo(0.9, 6) },
        { relevance: expect.closeTo(0.945, 6), metadata: { from: expect.stringMatching(/^[ac]$/) } },
      ],
    });
    expect(hits[1]?.entry.metadata).not.toHaveProperty('duplicates');
    const stored = await memory.get(hits[0]?.entry.id ?? '');
    expect(stored.metadata).toEqual({ from: 'b' });
  });

  test('are complete however many there are', async () => {
    const places = Array.from({ length: 90 }, (_, index) => `many.n${index}`);
    await memory.rememberMany(places.map((namespace) => ({ namespace, content: '0.9 everywhere' })));
    const { hits } = await memory.recall({ query: 'q', namespaces: ['many.*'], topK: 1 });
    expect(hits).toHaveLength(1);
    const found = [
      hits[0]?.entry.namespace,
      ...(hits[0]?.duplicates ?? []).map(({ namespace }) => namespace),
    ];
    expect(found.toSorted()).toEqual(places.toSorted());
  });

  test('an entry’s own duplicates key is hidden only where there are duplicates', async () => {
    await memory.remember({ namespace: 'own', content: '0.9 own', metadata: { duplicates: 'mine' } });
    const { hits } = await memory.recall({ query: 'q', namespaces: ['own'] });
    expect(hits[0]?.entry.metadata).toEqual({ duplicates: 'mine' });
  });
});

describe('time', () => {
  test.each([
    ['an hour ahead', 3_600_000],
    ['ten days ahead', 10 * DAY_MS],
    ['exactly one day ahead, the pole of decay / (1 + age)', DAY_MS],
    ['a hundred years ahead', 36_500 * DAY_MS],
  ])('an entry written %s gives a finite score and at most full recency', async (name, ahead) => {
    const namespace = `time.${name.replace(/[^a-z]/g, '')}`;
    opened.advance(ahead);
    await store(namespace, ['0.8 text']);
    opened.advance(-ahead);
    const boosted = await memory.recall({ query: 'q', namespaces: [namespace] });
    expect(boosted.hits[0]?.relevance).toBeCloseTo(0.84, 6);
    const weighted = await memory.recall({ query: 'q', namespaces: [namespace], profile: 'weighted' });
    expect(weighted.hits[0]?.score).toBeCloseTo(0.645, 6);
  });

  test('when a fact was seen does not make it fresher', async () => {
    for (const observedAt of ['0001-01-01', '2026-05-02T13:00:00Z', '2126-01-01', '9999-12-31']) {
      const namespace = `seen.y${observedAt.slice(0, 4)}`;
      await memory.remember({ namespace, content: '0.8 text', observedAt });
      const { hits } = await memory.recall({ query: 'q', namespaces: [namespace] });
      expect(hits[0]?.relevance).toBeCloseTo(0.84, 6);
      expect(hits[0]?.entry.observedAt?.toISOString().slice(0, 10)).toBe(observedAt.slice(0, 10));
    }
  });

  test('a half-life halves the recency, and writing the same text again renews it', async () => {
    await store('life', ['0 text']);
    opened.advance(WEIGHTED_PROFILE.halfLifeDays * DAY_MS);
    const request = { query: 'q', namespaces: ['life'], profile: 'weighted' };
    const aged = await memory.recall(request);
    // 0.4 × 0 + 0.2 × 0.5 + 0.25 × 0.5
    expect(aged.hits[0]?.score).toBeCloseTo(0.225, 9);
    await store('life', ['0 text']);
    const renewed = await memory.recall(request);
    expect(renewed.hits[0]?.score).toBeCloseTo(0.325, 9);
    expect(renewed.hits[0]?.entry.id).toBe(aged.hits[0]?.entry.id);
    opened.advance(-WEIGHTED_PROFILE.halfLifeDays * DAY_MS);
  });
});

describe('what can be found', () => {
  test('superseded, forgotten and expired entries leave the search and free their slot', async () => {
    await store('gone', ['0.95 old', '0.94 forgotten', '0.93 kept', '0.92 kept too']);
    const { entries } = await memory.list({ namespaces: ['gone'] });
    const idOf = (content: string) => entries.find((entry) => entry.content === content)?.id ?? '';
    await memory.supersede(idOf('0.95 old'), { namespace: 'gone', content: '0.91 new' });
    await memory.forget(idOf('0.94 forgotten'));
    await memory.remember({
      namespace: 'gone',
      content: '0.96 brief',
      expiresAt: new Date(opened.now() + 1000),
    });
    opened.advance(1000);
    const { hits } = await memory.recall({ query: 'q', namespaces: ['gone'], topK: 3 });
    expect(contents(hits)).toEqual(['0.93 kept', '0.92 kept too', '0.91 new']);
    const listed = await memory.list({ namespaces: ['gone'] });
    expect(listed.entries).toHaveLength(3);
  });

  test('an expired entry can be extended, and is found again', async () => {
    const expiresAt = new Date(opened.now() + 1000);
    const { entry } = await memory.remember({ namespace: 'extend', content: '0.9 text', expiresAt });
    opened.advance(1000);
    expect((await memory.recall({ query: 'q', namespaces: ['extend'] })).hits).toEqual([]);
    await memory.update(entry.id, { expiresAt: null });
    expect((await memory.recall({ query: 'q', namespaces: ['extend'] })).hits).toHaveLength(1);
  });

  test('a text without a vector is stored, listed and browsed, and scores 0 for a query', async () => {
    await store('mute', ['?!']);
    expect((await memory.list({ namespaces: ['mute'] })).entries).toHaveLength(1);
    expect((await memory.recall({ namespaces: ['mute'] })).hits).toHaveLength(1);
    const { hits } = await memory.recall({ query: 'q', namespaces: ['mute'], minScore: 0 });
    expect(hits.map(({ similarity, relevance }) => [similarity, relevance])).toEqual([[0, 0]]);
  });

  test('changed content is found by its new vector, and its metadata stays', async () => {
    const metadata = { colour: 'red' };
    const { entry } = await memory.remember({ namespace: 'change', content: '0.9 red', metadata });
    await memory.update(entry.id, { content: '0.2 blue' });
    const { hits } = await memory.recall({ query: 'q', namespaces: ['change'], minScore: 0 });
    expect(hits).toHaveLength(1);
    expect(hits[0]?.similarity).toBeCloseTo(0.2, 6);
    expect(hits[0]?.entry.metadata).toEqual(metadata);
  });

  test('segment borders and wildcard characters of SQL mean nothing', async () => {
    await store('t.acme.x', ['0.9 acme']);
    await store('t.acme-corp.x', ['0.9 corp']);
    await store('t.acme', ['0.9 itself']);
    await store('t.john-doe.m', ['0.9 dash']);
    await store('t.john_doe.m', ['0.9 underscore']);
    const found = async (namespace: string) =>
      contents((await memory.recall({ query: 'q', namespaces: [namespace] })).hits);
    expect(await found('t.acme.*')).toEqual(['0.9 acme']);
    expect(await found('t.acme')).toEqual(['0.9 itself']);
    expect(await found('t.john_doe.*')).toEqual(['0.9 underscore']);
    expect(await found('t.nobody.*')).toEqual([]);
  });

  test('metadata filters: dotted keys both ways, existence, negation with missing keys', async () => {
    await memory.rememberMany([
      { namespace: 'meta', content: '0.9 flat', metadata: { 'a.b': 1, f: 1 } },
      { namespace: 'meta', content: '0.8 nested', metadata: { a: { b: 1 }, f: 2 } },
      { namespace: 'meta', content: '0.7 without', metadata: { '😀 $key': 'x' } },
    ]);
    const found = async (metadata: Record<string, never> | object) => {
      const { hits } = await memory.recall({
        query: 'q',
        namespaces: ['meta'],
        filter: { metadata: { ...metadata } },
      });
      return contents(hits).map((content) => content.slice(4));
    };
    expect(await found({ 'a.b': 1 })).toEqual(['flat', 'nested']);
    expect(await found({ 'a\\.b': 1 })).toEqual(['flat']);
    expect(await found({ f: '*' })).toEqual(['flat', 'nested']);
    expect(await found({ f: { ne: 1 } })).toEqual(['nested', 'without']);
    expect(await found({ f: { nin: [1] } })).toEqual(['nested', 'without']);
    expect(await found({ '😀 $key': 'x' })).toEqual(['without']);
    expect(await found({ "f' = 1 OR '1'='1' --": 1 })).toEqual([]);
  });
});

test('a hundred recalls change neither a counter nor the order', async () => {
  await store('still', ['0.9 a', '0.9 b', '0.8 c']);
  const request = { query: 'q', namespaces: ['still'] };
  const before = await memory.recall(request);
  for (let time = 0; time < 100; time += 1) await memory.recall(request);
  const after = await memory.recall(request);
  expect(after.hits).toEqual(before.hits);
  expect(after.hits.map(({ entry }) => entry.accessCount)).toEqual([0, 0, 0]);
});

test('feedback moves the counters once per trace, entry and signal', async () => {
  await store('useful', ['0.9 a']);
  const { hits, traceId } = await memory.recall({ query: 'q', namespaces: ['useful'] });
  const memoryId = hits[0]?.entry.id ?? '';
  const first = await memory.feedback({ memoryId, traceId, signal: 'useful' });
  const second = await memory.feedback({ memoryId, traceId, signal: 'useful' });
  expect([first.recorded, second.recorded]).toEqual([true, false]);
  expect(second.entry).toMatchObject({ accessCount: 1, validatedAccessCount: 1 });
});
