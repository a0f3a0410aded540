import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FilterInput } from '../../src/contract/inputs.ts';
import type { MemoryEntry, MemoryHit } from '../../src/core/types.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { type SlowHit, type SlowWorld, slowRecall } from '../helpers/slow-recall.ts';
import { DAY_MS, openTestMemory, type TestMemory } from '../helpers/test-memory.ts';

/** Whole searches on the suite's backend, held against loops that say what the specification says. */

const NAMESPACES = [
  'a',
  'a.b',
  'a.b.c',
  'a.bc',
  'a.howto',
  'a.x.howto',
  'a.x.howto.sql',
  'd',
  'vector.user.local.n',
];
const RULES = [
  { pattern: 'a.*', bonus: 0.1 },
  { pattern: 'a.*.howto', bonus: 0.25 },
  { pattern: 'a.b', bonus: 0.2 },
  { pattern: '${any}', bonus: 0.05 },
  { pattern: 'vector.user.${user_id}.*', bonus: 0.15 },
  { pattern: 'd', bonus: 0 },
];
/** Few words, so that contents repeat and scores are near each other. */
const word = fc.constantFrom(
  'tea',
  'coffee',
  'river',
  'music',
  'garden',
  'python',
  'database',
  'museum',
  'train',
  '…',
);
const content = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
const day = (days: number) => new Date(Date.parse('2026-05-02T12:00:00Z') + days * DAY_MS);

const draft = fc.record(
  {
    namespace: fc.constantFrom(...NAMESPACES),
    content,
    importance: fc.constantFrom(0, 0.2, 0.5, 0.9, 1),
    type: fc.constantFrom('note', 'fact'),
    tags: fc.subarray(['t1', 't2', 't3']),
    metadata: fc.constantFrom({}, { y: 1 }, { y: 2, z: 'q' }, { y: '1' }, { z: null }),
    observedAt: fc.constantFrom(day(-5), day(0), day(40)),
    expiresAt: fc.constantFrom(day(60), day(1000)),
  },
  { requiredKeys: ['namespace', 'content'] },
);

const event = fc.record({
  /** Written at one time. */
  drafts: fc.array(draft, { minLength: 1, maxLength: 3 }),
  /** What happens to an entry, and to which. */
  afterwards: fc.constantFrom(
    'nothing',
    'nothing',
    'forget',
    'confirm',
    'supersede',
    'useful',
    'accessed',
    'wrong',
  ),
  entry: fc.nat(),
  pauseDays: fc.constantFrom(0.001, 0.1, 1, 7),
});

type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

const FILTERS: readonly (readonly [FilterInput | undefined, (entry: MemoryEntry) => boolean])[] = [
  [undefined, () => true],
  [{ type: 'fact' }, ({ type }) => type === 'fact'],
  [{ tags: ['t1', 't2'] }, ({ tags }) => tags.includes('t1') && tags.includes('t2')],
  [{ tags: { any: ['t2', 't3'] } }, ({ tags }) => tags.includes('t2') || tags.includes('t3')],
  [{ status: 'confirmed' }, ({ status }) => status === 'confirmed'],
  [{ observedAt: { from: day(0) } }, ({ observedAt }) => observedAt !== null && observedAt >= day(0)],
  [{ observedAt: { until: day(0) } }, ({ observedAt }) => observedAt !== null && observedAt < day(0)],
  [{ metadata: { y: 1 } }, ({ metadata }) => metadata.y === 1],
  [{ metadata: { y: { gte: 2 } } }, ({ metadata }) => typeof metadata.y === 'number' && metadata.y >= 2],
  [{ metadata: { y: { ne: 1 } } }, ({ metadata }) => metadata.y !== 1],
  [{ metadata: { z: { exists: true } } }, ({ metadata }) => 'z' in metadata],
];

const request = fc.record({
  profile: fc.constantFrom('boosted' as const, 'weighted' as const),
  query: fc.option(content, { nil: undefined, freq: 8 }),
  namespaces: fc.constantFrom(
    NAMESPACES,
    ['a.*'],
    ['a'],
    ['a.*.howto', 'd'],
    ['${any}'],
    ['vector.user.local.*', 'a.b'],
  ),
  filter: fc.constantFrom(...FILTERS),
  topK: fc.constantFrom(1, 2, 5, 200),
  minScore: fc.constantFrom(undefined, 0, 0, 0.3, 1.01),
  relativeCutoff: fc.constantFrom(undefined, 0, 0.9),
});

let opened: TestMemory;
let world: SlowWorld;

beforeAll(async () => {
  opened = await openTestMemory();
  for (const rule of RULES) await opened.memory.rules.put(rule);
  for (const happened of fc.sample(event, { numRuns: 90, seed: 11 })) await happen(happened);
  const entries = await everyEntry();
  const provider = createHashingProvider();
  const vectors = new Map<string, Float32Array | null>();
  world = {
    entries,
    rules: RULES,
    now: opened.now(),
    vectorOf: (text) => vectors.get(text) ?? null,
  };
  const texts = [
    ...entries.map((entry) => entry.content),
    ...fc.sample(request, SEARCHES).flatMap(({ query }) => query ?? []),
  ];
  const made = await provider.embed(texts, 'document');
  for (const [index, text] of texts.entries()) vectors.set(text, made[index] ?? null);
});

afterAll(() => opened.close());

async function everyEntry(): Promise<MemoryEntry[]> {
  const entries: MemoryEntry[] = [];
  for await (const entry of opened.memory.exportEntries({ lifecycle: 'any' })) entries.push(entry);
  return entries;
}

const SEARCHES = { numRuns: 200, seed: 7 };

async function happen({ drafts, afterwards, entry, pauseDays }: Event): Promise<void> {
  const { memory, advance } = opened;
  await memory.rememberMany(drafts);
  const { entries } = await memory.list({ limit: 500 });
  const chosen = entries[entry % entries.length];
  if (chosen !== undefined) {
    if (afterwards === 'forget') await memory.forget(chosen.id);
    if (afterwards === 'confirm') await memory.confirm(chosen.id);
    if (afterwards === 'supersede')
      await memory.supersede(chosen.id, { namespace: chosen.namespace, content: `newer ${chosen.id}` });
    if (afterwards === 'useful' || afterwards === 'accessed' || afterwards === 'wrong') {
      const { traceId } = await memory.recall({ query: 'tea' });
      await memory.feedback({ memoryId: chosen.id, traceId, signal: afterwards });
    }
  }
  advance(pauseDays * DAY_MS);
}

test('the entries differ in everything that a search looks at', () => {
  const { entries, now } = world;
  expect(entries.some(({ deletedAt }) => deletedAt !== null)).toBe(true);
  expect(entries.some(({ supersededBy }) => supersededBy !== null)).toBe(true);
  expect(entries.some(({ expiresAt }) => expiresAt !== null && expiresAt.getTime() <= now)).toBe(true);
  expect(entries.some(({ validatedAccessCount }) => validatedAccessCount > 0)).toBe(true);
  expect(new Set(entries.map((entry) => entry.content)).size).toBeLessThan(entries.length);
});

test('a search has the hits, the order, the scores and the duplicates of the loops', async () => {
  let found = 0;
  for (const {
    filter: [filter, passes],
    ...asked
  } of fc.sample(request, SEARCHES)) {
    const { hits } = await opened.memory.recall({ ...asked, filter });
    const all = slowRecall(world, { ...asked, passes, topK: Number.POSITIVE_INFINITY });
    expectSame(hits, all, asked.topK, JSON.stringify({ ...asked, filter }));
    found += hits.length;
  }
  expect(found).toBeGreaterThan(300);
});

/**
 * Scores to six places, since the database measures in single precision; so what is nearer than that may change places.
 *
 * @param all - Everything that is found, beyond `topK` too.
 */
function expectSame(hits: readonly MemoryHit[], all: readonly SlowHit[], topK: number, asked: string): void {
  const byId = new Map(all.map((hit) => [hit.entry.id, hit]));
  const inOrder = all.slice(0, topK);
  expect(hits, asked).toHaveLength(inOrder.length);
  for (const [place, { entry, score, duplicates }] of hits.entries()) {
    const [own, here] = [byId.get(entry.id), inOrder[place]];
    expect(duplicates.map(({ id }) => id).toSorted(), asked).toEqual(own?.duplicates.toSorted());
    expect([own?.score, here?.score], asked).toEqual([near(score), near(score)]);
    // Of equal ones, the newer goes before the older, and then the ids decide.
    if (own?.score === here?.score) expect(entry.id, asked).toBe(here?.entry.id);
  }
}

function near(score: number | null) {
  return score === null ? null : expect.closeTo(score, 6);
}
