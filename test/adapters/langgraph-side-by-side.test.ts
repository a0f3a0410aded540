import { Embeddings } from '@langchain/core/embeddings';
import { type BaseStore, InMemoryStore } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PalimpsestStore } from '../../src/adapters/langgraph/index.ts';
import { textsAt } from '../../src/adapters/langgraph/item-text.ts';
import type { JsonObject } from '../../src/core/types.ts';
import { BACKENDS, type TestBackend } from '../helpers/test-backends.ts';

/**
 * LangGraph has no conformance suite for stores, so its own store in memory is the reference: the same operations
 * have to give the same answers. What it leaves open, or gets wrong, is not asked: the order of items that are not
 * ranked, and namespaces whose last item was deleted, which it goes on listing.
 */

let backend: TestBackend;
let runs = 0;

beforeAll(async () => {
  const [inProcess] = BACKENDS;
  backend = await (inProcess ?? expect.unreachable()).open();
});

afterAll(() => backend.close());

const label = fc.constantFrom('a', 'b', 'ab', 'a-b', 'a_b', 'ä', 'a b', '*', '~', '$' + '{x}');
const namespace = fc.array(label, { minLength: 1, maxLength: 3 });
const key = fc.constantFrom('k', 'K', 'k k', '', 'k.k', '"');
const value = fc.record(
  {
    n: fc.constantFrom(-1, 0, 0.5, 1, 2, 10),
    s: fc.constantFrom<unknown>('x', 'y', 'true', true, false, null),
    'd.t': fc.constantFrom('x', 'y'),
    nested: fc.record({ n: fc.integer() }),
  },
  { requiredKeys: [] },
);

const number = fc.constantFrom(-1, 0, 1, 2);
const scalar = fc.constantFrom<unknown>('x', 'y', 'true', true, null);
const filter = fc.oneof(
  fc.constant(undefined),
  fc.record({ n: number }),
  fc.record({ n: fc.record({ $gt: number, $lte: number }, { requiredKeys: ['$gt'] }) }),
  fc.record({ n: fc.record({ $gte: number }), s: scalar }),
  fc.record({ n: fc.record({ $lt: number }) }),
  fc.record({ s: fc.record({ $eq: scalar }) }),
  fc.record({ s: fc.record({ $ne: scalar }) }),
  fc.record({ s: fc.record({ $in: fc.array(scalar, { maxLength: 2 }) }) }),
  fc.record({ s: fc.record({ $nin: fc.array(scalar, { maxLength: 2 }) }) }),
  fc.record({ 'd.t': fc.constantFrom('x', 'y') }),
);

type Step = (store: BaseStore) => Promise<unknown>;
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(namespace, key, value).map(
      ([n, k, v]): Step =>
        (store) =>
          store.put(n, k, v),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(namespace, key).map(
      ([n, k]): Step =>
        (store) =>
          store.delete(n, k),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(namespace, key).map(
      ([n, k]): Step =>
        async (store) =>
          (await store.get(n, k))?.value ?? null,
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.array(label, { maxLength: 2 }), filter).map(
      ([prefix, wanted]): Step =>
        (store) =>
          found(store, prefix, wanted),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .record(
        { prefix: fc.array(label, { maxLength: 2 }), suffix: fc.array(label, { maxLength: 2 }) },
        { requiredKeys: [] },
      )
      .map(
        (options): Step =>
          (store) =>
            listed(store, options),
      ),
  },
);

async function found(
  store: BaseStore,
  prefix: string[],
  wanted?: Record<string, unknown>,
): Promise<string[]> {
  const items = await store.search(prefix, {
    limit: 200,
    ...(wanted === undefined ? {} : { filter: wanted }),
  });
  return items.map((item) => JSON.stringify([item.namespace, item.key, sorted(item.value)])).sort();
}

function sorted(object: Record<string, unknown>) {
  return Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The listed namespaces that hold an item. */
async function listed(
  store: BaseStore,
  options: { prefix?: string[]; suffix?: string[] },
): Promise<string[]> {
  const names = new Set(
    (await store.search([], { limit: 200 })).map((item) => JSON.stringify(item.namespace)),
  );
  const listing = await store.listNamespaces({ ...options, limit: 200 });
  return listing
    .map((one) => JSON.stringify(one))
    .filter((name) => names.has(name))
    .sort();
}

test('the same operations give the same answers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
      runs += 1;
      const ours = new PalimpsestStore(backend.memory, { root: `vector.user.ada.side${runs}` });
      const reference = new InMemoryStore();
      for (const run of [...steps, (store: BaseStore) => found(store, [])]) {
        expect(await run(ours)).toEqual(await run(reference));
      }
    }),
    { numRuns: 25 },
  );
}, 120_000);

test('ranked pages of both have the same items, each once', async () => {
  const ours = new PalimpsestStore(backend.memory, {
    root: 'vector.user.ada.pages',
    index: { fields: ['t'] },
  });
  for (let n = 0; n < 12; n += 1) {
    await ours.put(['p'], `k${n}`, { t: `Tea number ${n}` }, n % 4 === 0 ? false : undefined);
  }
  for (const limit of [1, 3, 5, 12, 20]) {
    const keys: string[] = [];
    for (let offset = 0; offset < 12; offset += limit) {
      keys.push(...(await ours.search(['p'], { query: 'tea', limit, offset })).map((item) => item.key));
    }
    expect(keys).toHaveLength(12);
    expect(new Set(keys).size).toBe(12);
    expect(keys.slice(9).sort()).toEqual(['k0', 'k4', 'k8']);
  }
});

/** Notes what the store in memory would embed. */
class NotingEmbeddings extends Embeddings {
  readonly texts: string[] = [];
  override async embedDocuments(texts: string[]): Promise<number[][]> {
    this.texts.push(...texts);
    return texts.map(() => [1]);
  }
  override async embedQuery(): Promise<number[]> {
    return [1];
  }
}

async function embeddedBy(value: JsonObject, path: string): Promise<string[]> {
  const embeddings = new NotingEmbeddings({});
  const store = new InMemoryStore({ index: { dims: 1, embeddings, fields: [path] } });
  await store.put(['n'], 'k', value);
  return embeddings.texts;
}

const DOCUMENT: JsonObject = {
  title: 'Q4 report',
  pages: 12,
  draft: false,
  nothing: null,
  meta: { title: 'inner', tags: ['red', 'green', 'blue'], author: { name: 'Ada' } },
  chapters: [{ content: 'one', title: 'I' }, { content: 'two' }, { other: 'three' }],
  matrix: [[1, 2], [3]],
};

test.each([
  'title',
  'pages',
  'draft',
  'nothing',
  'missing',
  'title.deeper',
  'meta.title',
  'meta.author.name',
  'meta.tags[0]',
  'meta.tags[-1]',
  'meta.tags[9]',
  'meta.tags[*]',
  'chapters[*].content',
  'chapters[1].content',
  'chapters[-3].title',
  'meta.author.*',
  '{title,pages}',
  '{title,meta.author.name,missing}',
  'meta.{title}',
  'chapters[*].{content,title}',
  'matrix[*][0]',
  'matrix[*][*]',
  'constructor',
])('%s leads to the texts that LangGraph finds there', async (path) => {
  const wanted = await embeddedBy(DOCUMENT, path);
  expect([...new Set(textsAt(DOCUMENT, path))].sort()).toEqual([...new Set(wanted)].sort());
});

test('a whole value is found by its JSON', async () => {
  expect(textsAt(DOCUMENT, '$').map((text) => JSON.parse(text))).toEqual(
    (await embeddedBy(DOCUMENT, '$')).map((text) => JSON.parse(text)),
  );
});
