import assert from 'node:assert/strict';
import { matchesFilter } from '../core/filter.ts';
import type { JsonObject, JsonValue, MemoryFilter, MetadataFilter } from '../core/types.ts';
import type { ContractSuite } from './contract-case.ts';
import {
  at,
  candidatesOf,
  DAY,
  MINUTE,
  NOON,
  operator,
  prepared,
  readOne,
  TEST_MODEL,
  writeOne,
} from './contract-fixtures.ts';

const SEARCH = { modelId: TEST_MODEL.modelId, vector: Float32Array.of(1, 0, 0, 0) };

function compare(
  path: readonly string[],
  operator: (MetadataFilter & { kind: 'compare' })['operator'],
  value: JsonValue,
  flatKey: string | null = null,
): MetadataFilter {
  return { kind: 'compare', path, flatKey, operator, value };
}

/** Metadata that tells every operator's cases apart: types, missing keys, nulls, dots, odd keys. */
const METADATA: readonly JsonObject[] = [
  {},
  { f: 1 },
  { f: 2 },
  { f: 1.5 },
  { f: -0 },
  { f: 1e300 },
  { f: '1' },
  { f: 'alice' },
  { f: 'Ärger' },
  { f: 'z' },
  { f: '😀' },
  { f: '\uffee' },
  { f: '' },
  { f: null },
  { f: true },
  { f: false },
  { f: [1, 'alice', { a: 1, b: 2 }, null] },
  { f: [] },
  { f: { a: 1, b: 2 } },
  { f: { '0': 'zero', '-1': 'minus' } },
  { f: ['first', 'second'] },
  { 'a.b': 1 },
  { a: { b: 1 } },
  { 'a.b': 2, a: { b: 1 } },
  { a: [{ b: 1 }] },
  { 'with space': 1, 'da-sh': 1, $dollar: 1, '😀': 1, "quo'te": 1, 'back\\slash': 1, '%': 1 },
  { and: 1, or: 1, not: 1 },
];

const METADATA_FILTERS: readonly MetadataFilter[] = [
  ...(['eq', 'ne'] as const).flatMap((operator) =>
    [1, 2, 0, '1', 'alice', '', null, true, false, [], { b: 2, a: 1 }, ['first', 'second']].map((value) =>
      compare(['f'], operator, value),
    ),
  ),
  ...(['gt', 'gte', 'lt', 'lte'] as const).flatMap((operator) =>
    [1, 0, 1.5, -5, '1', 'alice', 'Z', '\uffee', ''].map((value) => compare(['f'], operator, value)),
  ),
  ...(['in', 'nin'] as const).flatMap((operator) =>
    [[1], ['1', 2], [], [null], ['alice', true], [{ a: 1, b: 2 }]].map((value) =>
      compare(['f'], operator, value),
    ),
  ),
  ...['alice', 'li', '', 1, null, { a: 1 }, { a: 1, b: 2 }, 'first'].map((value) =>
    compare(['f'], 'contains', value),
  ),
  compare(['f'], 'exists', true),
  compare(['f'], 'exists', false),
  compare(['f', '0'], 'exists', true),
  compare(['f', '-1'], 'exists', true),
  compare(['f', 'a'], 'eq', 1),
  compare(['a', 'b'], 'eq', 1, 'a.b'),
  compare(['a', 'b'], 'exists', true, 'a.b'),
  compare(['a', 'b'], 'ne', 1, 'a.b'),
  compare(['a.b'], 'eq', 1),
  ...['with space', 'da-sh', '$dollar', '😀', "quo'te", 'back\\slash', '%', 'and', 'or', 'not'].map((key) =>
    compare([key], 'eq', 1),
  ),
  compare(["author' = 'alice' OR '1'='1' --"], 'eq', 'zzz'),
  compare(["'; DROP TABLE app.memories; --"], 'exists', true),
  { kind: 'not', filter: compare(['f'], 'gt', 1) },
  { kind: 'and', filters: [] },
  { kind: 'or', filters: [] },
  { kind: 'and', filters: [compare(['f'], 'gt', 0), compare(['f'], 'lt', 2)] },
  { kind: 'or', filters: [compare(['f'], 'eq', 1), { kind: 'not', filter: compare(['f'], 'exists', true) }] },
];

/** SPEC sections 2, 4 and the filters: what is offered to the ranking. */
export const searchContract: ContractSuite = {
  subject: 'search',
  cases: [
    {
      name: 'candidates carry every ranking factor, nearest first',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const near = await writeOne(
          store,
          access,
          { namespace: 'a.b', content: 'near', importance: 0.9 },
          { vector: [0.6, 0.8, 0, 0], now: NOON - DAY },
        );
        await store.feedback(
          access,
          { memoryId: near.id, signal: 'useful', traceId: '01900000-0000-7000-8000-000000000001' },
          at(NOON),
        );
        await writeOne(store, access, { namespace: 'a.c', content: 'opposite' }, { vector: [-1, 0, 0, 0] });
        await writeOne(store, access, { namespace: 'a.c', content: 'same' }, { vector: [2, 0, 0, 0] });
        const found = await candidatesOf(store, access, { namespaces: ['a.b', 'a.c'] });
        assert.deepEqual(
          found.map(({ similarity }) => Number(similarity?.toFixed(6))),
          [1, 0.6, 0],
          'the length of a vector does not matter, and a negative cosine is 0',
        );
        const { similarity, ...factors } = found[1] ?? { similarity: null };
        assert.ok(similarity !== null);
        assert.deepEqual(factors, {
          id: near.id,
          namespace: 'a.b',
          contentHash: near.contentHash,
          updatedAt: NOON - DAY,
          importance: 0.9,
          accessCount: 1,
          validatedAccessCount: 1,
        });
      },
    },
    {
      name: 'what is not fetched is bounded: similarity, time, importance and counts',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const vectors = [
          [1, 0, 0, 0],
          [0.8, 0.6, 0, 0],
          [0.6, 0.8, 0, 0],
          [0, 1, 0, 0],
        ];
        for (const [index, vector] of vectors.entries()) {
          await writeOne(
            store,
            access,
            { namespace: 'a.b', content: `text ${index}`, importance: index / 10 },
            { vector, now: NOON - index * MINUTE },
          );
        }
        const batch = await store.read(access, (view) =>
          view.candidates({
            namespaces: ['a.b'],
            filter: {},
            query: SEARCH,
            now: NOON,
            limit: 2,
            bound: ['importance', 'validatedAccessCount'],
          }),
        );
        assert.equal(batch.candidates.length, 2);
        assert.ok(batch.rest);
        assert.ok(batch.rest.similarity >= 0.6 && batch.rest.similarity < 0.801);
        assert.ok(batch.rest.updatedAt >= NOON - 2 * MINUTE);
        assert.ok(batch.rest.importance >= 0.3 && batch.rest.importance <= 1);
        assert.equal(batch.rest.validatedAccessCount, 0);
        const all = await store.read(access, (view) =>
          view.candidates({
            namespaces: ['a.b'],
            filter: {},
            query: SEARCH,
            now: NOON,
            limit: 10,
            bound: [],
          }),
        );
        assert.equal(all.rest, null, 'nothing is left out');
      },
    },
    {
      name: 'vectors of dead entries take no result away, however many they are (CASES F5, D1)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        for (let index = 0; index < 30; index += 1) {
          const { id } = await writeOne(store, access, { namespace: 'a.b', content: `dead ${index}` });
          await store.forget(access, id, at(NOON));
        }
        const live = await writeOne(
          store,
          access,
          { namespace: 'a.b', content: 'live' },
          { vector: [0.6, 0.8, 0, 0] },
        );
        const batch = await store.read(access, (view) =>
          view.candidates({
            namespaces: ['a.b'],
            filter: {},
            query: SEARCH,
            now: NOON,
            limit: 10,
            bound: [],
          }),
        );
        const isFound = batch.candidates.some(({ id }) => id === live.id);
        assert.ok(isFound || (batch.rest !== null && batch.rest.similarity >= 0.6), 'found, or bounded');
        assert.equal((await candidatesOf(store, access, { namespaces: ['a.b'] })).length, 1);
      },
    },
    {
      name: 'without a query: newest first, no similarity; a query without a vector: every similarity 0',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const older = await writeOne(
          store,
          access,
          { namespace: 'a.b', content: 'older' },
          { now: NOON - DAY },
        );
        const newer = await writeOne(store, access, { namespace: 'a.b', content: 'newer' }, { now: NOON });
        const browse = await candidatesOf(store, access, { namespaces: ['a.b'], query: undefined });
        assert.deepEqual(
          browse.map(({ id, similarity }) => [id, similarity]),
          [
            [newer.id, null],
            [older.id, null],
          ],
        );
        const mute = await candidatesOf(store, access, {
          namespaces: ['a.b'],
          query: { modelId: TEST_MODEL.modelId, vector: null },
        });
        assert.deepEqual(
          mute.map(({ similarity }) => similarity),
          [0, 0],
        );
      },
    },
    {
      name: 'vectors of another model are never compared',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        await store.registerModel(tenantId, { modelId: 'other-2', dimensions: 2 });
        const found = await candidatesOf(store, access, {
          namespaces: ['a.b'],
          query: { modelId: 'other-2', vector: Float32Array.of(1, 0) },
        });
        assert.deepEqual(
          found.map(({ similarity }) => similarity),
          [0],
          'the entry is there, without a vector',
        );
      },
    },
    {
      name: 'only the named namespaces are searched, and no namespace finds nothing',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        await writeOne(store, access, { namespace: 'a.b.c', content: 'y' });
        assert.equal((await candidatesOf(store, access, { namespaces: ['a.b'] })).length, 1);
        assert.deepEqual(await candidatesOf(store, access, { namespaces: [] }), []);
      },
    },
    {
      name: 'metadata filters mean in SQL what they mean in the reference (CASES B1, B3, B6, B8)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const written = await store.write(
          access,
          METADATA.map((metadata, index) =>
            prepared({ namespace: 'a.b', content: `entry ${index}`, metadata }),
          ),
          at(NOON),
        );
        const entries = written.map(({ entry }) => entry);
        for (const metadata of METADATA_FILTERS) {
          const filter: MemoryFilter = { metadata };
          const found = await candidatesOf(store, access, { namespaces: ['a.b'], filter });
          assert.deepEqual(
            found.map(({ id }) => id).sort(),
            entries
              .filter((entry) => matchesFilter(filter, entry))
              .map(({ id }) => id)
              .sort(),
            JSON.stringify(metadata),
          );
        }
      },
    },
    {
      name: 'type, tags, status and observed_at filters mean the same in SQL and in the reference',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const drafts = [
          { type: 'fact', tags: ['a', 'b'], observedAt: new Date(NOON) },
          { type: 'fact', tags: ['a'] },
          { type: 'note', tags: [], observedAt: new Date(NOON + DAY) },
          { type: 'decision', tags: ['b', '%', '_'], observedAt: new Date('0001-01-01T00:00:00.000Z') },
        ];
        const ids: string[] = [];
        for (const [index, draft] of drafts.entries()) {
          const entry = await writeOne(store, access, {
            namespace: 'a.b',
            content: `entry ${index}`,
            ...draft,
          });
          ids.push(entry.id);
        }
        await store.confirm(access, ids[1] ?? '', at(NOON));
        const entries = await store.read(access, (view) => view.entries(ids));
        assert.equal(entries.length, drafts.length);
        const filters: MemoryFilter[] = [
          {},
          { types: ['fact'] },
          { types: ['fact', 'note'] },
          { types: [] },
          { tagsAny: ['a', '%'] },
          { tagsAll: ['a', 'b'] },
          { tagsAll: [] },
          { tagsAny: [] },
          { statuses: ['confirmed'] },
          { statuses: ['unconfirmed', 'confirmed'] },
          { observedFrom: new Date(NOON) },
          { observedUntil: new Date(NOON) },
          { observedFrom: new Date(NOON), observedUntil: new Date(NOON + DAY) },
          { types: ['fact'], tagsAny: ['b'], statuses: ['unconfirmed'] },
        ];
        for (const filter of filters) {
          const found = await candidatesOf(store, access, { namespaces: ['a.b'], filter });
          assert.deepEqual(
            found.map(({ id }) => id).sort(),
            entries
              .filter((entry) => matchesFilter(filter, entry))
              .map(({ id }) => id)
              .sort(),
            JSON.stringify(filter),
          );
        }
      },
    },
    {
      name: 'entries come back in the order asked, and unknown ids are left out',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const one = await writeOne(store, access, { namespace: 'a.b', content: '1' });
        const two = await writeOne(store, access, { namespace: 'a.b', content: '2' });
        const entries = await store.read(access, (view) =>
          view.entries([two.id, 'nonsense', '01900000-0000-7000-8000-00000000dead', one.id.toUpperCase()]),
        );
        assert.deepEqual(
          entries.map(({ content }) => content),
          ['2', '1'],
        );
        assert.equal((await readOne(store, access, one.id))?.content, '1');
      },
    },
  ],
};
