import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OpenedMemoryService, openMemoryService } from '../../src/app.ts';
import { DEFAULT_HNSW_BUILD, DEFAULT_HNSW_SEARCH } from '../../src/core/vector-index.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { OpenedMemory } from '../../src/library/opened-memory.ts';
import { LOCAL_OPERATOR } from '../../src/service/local-operator.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { enterAccess } from '../../src/store/queries/access.ts';
import { selectNearest } from '../../src/store/queries/candidates.ts';
import { beginHnswSearch, vectorIndexName } from '../../src/store/queries/vector-index.ts';
import { user } from '../../src/testing/contract-fixtures.ts';
import { describeOrSkip } from '../helpers/skip.ts';
import { openTestCli } from '../helpers/test-cli.ts';
import { BACKEND, createDatabase } from '../helpers/test-database.ts';

/** Approximate indexes: what is found by them, what is said of it, and what is left of a build that was killed. */

const CONTEXT = { access: LOCAL_OPERATOR };
const MODEL = 'hashing-512-v1';
const SIZE = 3_000;
/** Ada has 20 of them. */
const OWN_EVERY = 150;

const words = (index: number, list: readonly string[], step: number) =>
  list[Math.floor(index / step) % list.length];
const contentOf = (index: number) =>
  `${words(index, ['Herons', 'Kettles', 'Sisters', 'Museums', 'Boats', 'Glaciers', 'Lanterns'], 1)} ${words(index, ['wait', 'sing', 'close', 'travel', 'sink'], 7)} near bridge ${index % 97} of ${words(index, ['Lyon', 'Oslo', 'Porto', 'Ghent'], 35)} in summer ${index % 53}, says note ${index}.`;
const QUERIES = Array.from({ length: 30 }, (_, index) => contentOf(index * 89).split(',')[0] ?? '');

describeOrSkip(
  BACKEND === 'postgres' ? undefined : 'the embedded store has no approximate indexes',
  'an index of vectors on PostgreSQL',
  () => {
    let database: Awaited<ReturnType<typeof createDatabase>>;
    const opened: OpenedMemoryService[] = [];

    /** The same store, with searches that go by an index from so many vectors on. */
    async function open(exactUpTo: number, provider = createHashingProvider()) {
      const service = await openMemoryService({
        location: { databaseUrl: database.url },
        embedding: provider,
        backfills: false,
        hnsw: { ...DEFAULT_HNSW_SEARCH, exactUpTo },
      });
      opened.push(service);
      return { ...service, memory: new OpenedMemory(service) };
    }

    type Opened = Awaited<ReturnType<typeof open>>;
    let exact: Opened;
    let approximate: Opened;

    beforeAll(async () => {
      database = await createDatabase();
      exact = await open(Number.MAX_SAFE_INTEGER);
      for (let from = 0; from < SIZE; from += 500) {
        await exact.memory.rememberMany(
          Array.from({ length: 500 }, (_, index) => ({
            namespace:
              (from + index) % OWN_EVERY === 0 ? 'vector.user.ada.notes' : `team.part${(from + index) % 3}`,
            content: contentOf(from + index),
          })),
        );
      }
      await exact.indexes.create(CONTEXT, { ...DEFAULT_HNSW_BUILD });
      approximate = await open(100);
    }, 240_000);

    afterAll(async () => {
      for (const service of opened) await service.close();
      await database.drop();
    });

    function search(store: Opened, query: string, namespaces: readonly string[]) {
      return store.memory.recall({ query, namespaces, topK: 10, minScore: 0, relativeCutoff: 0 });
    }

    it('finds nearly all that an exact search finds, with the same numbers, and says that it is not exact', async () => {
      let found = 0;
      for (const query of QUERIES) {
        const [reference, hits] = [
          await search(exact, query, ['*']),
          await search(approximate, query, ['*']),
        ];
        expect(reference.trace).toMatchObject({ index: 'exact_scan', exact: true });
        expect(hits.trace).toMatchObject({ index: 'hnsw', exact: false, certificate: { bound: null } });
        expect(hits.exact).toBe(false);
        expect(hits.hits).toHaveLength(10);
        // Of equally near ones either is right.
        const least = reference.hits.at(-1)?.similarity ?? 1;
        found += hits.hits.filter(({ similarity }) => (similarity ?? 0) >= least - 1e-9).length;
        const measured = new Map(reference.hits.map(({ entry, similarity }) => [entry.id, similarity]));
        for (const { entry, similarity } of hits.hits) {
          if (measured.has(entry.id)) expect(similarity).toBe(measured.get(entry.id));
        }
      }
      expect(found / (QUERIES.length * 10)).toBeGreaterThanOrEqual(0.95);
    });

    it('fills the places where most of the nearest lie outside of the scope (CASES D1)', async () => {
      for (const query of QUERIES.slice(0, 10)) {
        const small = await search(approximate, query, ['vector.user.ada.*']);
        expect(small.hits).toHaveLength(10);
        // A scope this small is measured whole, so that it is exact.
        expect(small.trace).toMatchObject({ index: 'exact_scan', exact: true });
        const third = await search(approximate, query, ['team.part1']);
        expect(third.hits).toHaveLength(10);
        expect(third.trace.index).toBe('hnsw');
      }
      // Even by the index alone: it goes on until it has enough, or the scope is measured after all.
      const always = await open(0);
      for (const query of QUERIES.slice(0, 10)) {
        const ada = always.memory.as({ userId: 'ada' });
        const { hits } = await ada.recall({ query, topK: 10, minScore: 0, relativeCutoff: 0 });
        expect(hits).toHaveLength(10);
        expect(new Set(hits.map(({ entry }) => entry.namespace))).toEqual(new Set(['vector.user.ada.notes']));
      }
    });

    it('is what PostgreSQL uses under the role of requests, whatever the scope (CASES D3)', async () => {
      const raw = openPostgres({ connectionString: database.url });
      const [vector] = await createHashingProvider().embed([QUERIES[0] ?? ''], 'query');
      if (vector === undefined || vector === null) return expect.unreachable('the query has a vector');
      try {
        for (const [access, namespaces] of [
          [LOCAL_OPERATOR, ['team.part0', 'team.part1', 'team.part2', 'vector.user.ada.notes']],
          [LOCAL_OPERATOR, ['team.part1']],
          [user(LOCAL_OPERATOR.principal.tenantId, 'ada', { read: ['team.*'] }), ['team.part1']],
        ] as const) {
          const plan = await raw.transaction(async (tx) => {
            await tx.query(enterAccess(access, { role: 'palimpsest_app', mayWrite: false }));
            await tx.query(beginHnswSearch(DEFAULT_HNSW_SEARCH));
            const query = { modelId: MODEL, vector };
            const asked = { namespaces, filter: {}, query, now: Date.now(), limit: 70, bound: [] };
            const { text, values } = selectNearest('default', asked, true);
            return tx.query<{ 'QUERY PLAN': string }>({ text: `EXPLAIN ${text}`, values });
          });
          const lines = plan.map((row) => row['QUERY PLAN']).join('\n');
          expect(lines).toContain(`Index Scan using ${vectorIndexName(MODEL)}`);
        }
      } finally {
        await raw.close();
      }
    });

    it('leaves alone what similarity alone does not decide, and what is filtered', async () => {
      const query = QUERIES[3] ?? '';
      const weighted = await approximate.memory.recall({ query, profile: 'weighted', topK: 10 });
      expect(weighted.trace).toMatchObject({ index: 'exact_scan', exact: true });
      const filtered = await approximate.memory.recall({
        query,
        filter: { type: 'note' },
        minScore: 0,
        relativeCutoff: 0,
      });
      expect(filtered.trace).toMatchObject({ index: 'exact_scan', exact: true });
    });

    it('is listed with how it was built, once for its model', async () => {
      expect(await exact.indexes.list(CONTEXT)).toMatchObject([
        {
          name: vectorIndexName(MODEL),
          modelId: MODEL,
          dimensions: 512,
          indexedAs: 'vector',
          m: 16,
          efConstruction: 64,
          state: 'valid',
          progress: null,
        },
      ]);
      await expect(exact.indexes.create(CONTEXT, { ...DEFAULT_HNSW_BUILD })).rejects.toMatchObject({
        code: 'conflict',
      });
      for (const [request, path] of [
        [{ m: 1, efConstruction: 64 }, 'm'],
        [{ m: 50, efConstruction: 64 }, 'ef_construction'],
        [{ m: 16, efConstruction: 64, modelId: 'unknown' }, 'model'],
      ] as const) {
        await expect(exact.indexes.create(CONTEXT, request)).rejects.toMatchObject({
          code: 'invalid_input',
          details: [{ path }],
        });
      }
      const ada = { access: user('default', 'ada', { isAdmin: true }) };
      await expect(exact.indexes.list(ada)).rejects.toMatchObject({ code: 'forbidden' });
    });

    it('a killed build leaves an invalid index, which is told, not used, and built anew', async () => {
      expect(await exact.indexes.drop(CONTEXT)).toBe(true);
      expect(await exact.indexes.drop(CONTEXT)).toBe(false);
      // The build waits for every write that is under way, so that it can be met in the middle.
      const writer = new Client({ connectionString: database.url });
      await writer.connect();
      let build: ChildProcess | undefined;
      try {
        await writer.query('BEGIN; LOCK TABLE app.memory_embeddings IN ROW EXCLUSIVE MODE');
        build = spawn(process.execPath, [
          join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts'),
          ...['index', 'create', '--database-url', database.url],
        ]);
        const ended = new Promise((resolve) => build?.once('exit', resolve));
        const states = async () => (await exact.indexes.list(CONTEXT)).map(({ state }) => state);
        await expect.poll(states, { timeout: 60_000 }).toEqual(['building']);
        build.kill('SIGKILL');
        await ended;
        await expect.poll(states, { timeout: 60_000 }).toEqual(['invalid']);
      } finally {
        build?.kill('SIGKILL');
        await writer.end();
      }
      const fresh = await open(100);
      const { trace } = await search(fresh, QUERIES[0] ?? '', ['*']);
      expect(trace).toMatchObject({ index: 'exact_scan', exact: true });
      const cli = await openTestCli(fresh);
      const doctor = await cli.run('doctor', '--database-url', database.url);
      expect(doctor.stdout).toMatch(/WARN[\s│]+vector index[\s│]+invalid/);
      expect(doctor.stdout).toContain('palimpsest index create');
      expect((await cli.run('index', 'list')).stdout).toContain('invalid');
      const built = await cli.run('index', 'create', '--m', '8', '--ef-construction', '32', '--json');
      expect(JSON.parse(built.stdout)).toMatchObject({ state: 'valid', m: 8, ef_construction: 32 });
      const after = await cli.run('doctor', '--database-url', database.url);
      expect(after.stdout).toMatch(/ok[\s│]+vector index[\s│]+valid/);
    }, 240_000);

    it('a build that is given up leaves nothing', async () => {
      await exact.indexes.drop(CONTEXT);
      const writer = new Client({ connectionString: database.url });
      await writer.connect();
      try {
        await writer.query('BEGIN; LOCK TABLE app.memory_embeddings IN ROW EXCLUSIVE MODE');
        const stop = new AbortController();
        const phases: string[] = [];
        const building = exact.indexes.create(
          CONTEXT,
          { ...DEFAULT_HNSW_BUILD },
          {
            signal: stop.signal,
            onProgress: ({ phase }) => void phases.push(phase),
          },
        );
        const outcome = building.catch((error: unknown) => error);
        await expect.poll(() => phases.length, { timeout: 60_000 }).toBeGreaterThan(0);
        const reason = new Error('changed my mind');
        stop.abort(reason);
        // Removing what is left waits for the write too.
        await writer.query('COMMIT');
        expect(await outcome).toBe(reason);
      } finally {
        await writer.end();
      }
      await expect.poll(() => exact.indexes.list(CONTEXT), { timeout: 60_000 }).toEqual([]);
    }, 120_000);

    it('keeps 16-bit numbers above 2,000 dimensions, and measures by the stored ones', async () => {
      const wide = createHashingProvider({ dimensions: 2_048 });
      const store = await open(0, wide);
      await store.reembed.start(CONTEXT, { scope: 'team.part2' });
      await store.reembed.run(CONTEXT);
      const index = await store.indexes.create(CONTEXT, { ...DEFAULT_HNSW_BUILD, modelId: wide.modelId });
      expect(index).toMatchObject({ indexedAs: 'halfvec', dimensions: 2_048, state: 'valid' });
      const [query = ''] = QUERIES;
      const approximately = await search(await open(0, wide), query, ['team.part2']);
      expect(approximately.trace).toMatchObject({ index: 'hnsw', embeddingModelId: wide.modelId });
      const reference = await search(await open(Number.MAX_SAFE_INTEGER, wide), query, ['team.part2']);
      expect(approximately.hits[0]?.similarity).toBe(reference.hits[0]?.similarity);
    }, 240_000);
  },
);

it('what is no index leaves the embedded store as exact as it is', async () => {
  const service = await openMemoryService({ location: { inMemory: true }, embedding: {} });
  try {
    await new OpenedMemory(service).remember({ namespace: 'a.b', content: 'A heron.' });
    expect(await service.indexes.list(CONTEXT)).toEqual([]);
    await expect(service.indexes.create(CONTEXT, { ...DEFAULT_HNSW_BUILD })).rejects.toMatchObject({
      code: 'conflict',
    });
  } finally {
    await service.close();
  }
});
