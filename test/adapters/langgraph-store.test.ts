import { Annotation, START, StateGraph } from '@langchain/langgraph';
import {
  AsyncBatchedStore,
  type BaseStore,
  InMemoryStore,
  InvalidNamespaceError,
} from '@langchain/langgraph-checkpoint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PalimpsestStore, type PalimpsestStoreOptions } from '../../src/adapters/langgraph/index.ts';
import { frozen } from '../helpers/frozen.ts';
import { refusal, rejection } from '../helpers/refusal.ts';
import { BACKENDS, type TestBackend } from '../helpers/test-backends.ts';

describe.each(BACKENDS)('LangGraph store $name', ({ open }) => {
  let backend: TestBackend;
  let roots = 0;

  beforeAll(async () => {
    backend = await open();
  });

  afterAll(() => backend.close());

  /** A store with a root of its own. */
  function newStore(options: Omit<PalimpsestStoreOptions, 'root'> = {}): PalimpsestStore & { root: string } {
    roots += 1;
    const root = `vector.user.ada.lg${roots}`;
    return Object.assign(new PalimpsestStore(backend.memory, { root, ...options }), { root });
  }

  const keysOf = (items: readonly { key: string }[]) => items.map(({ key }) => key).sort();

  test('what is put is got, to the last bit, and nothing given is changed', async () => {
    const store = newStore();
    const value = frozen({
      text: 'Ada prefers tea.',
      nested: { list: [1, -0.5, 1e21, null, true, { deep: '🚢' }], empty: {}, none: [] },
      'a.b': 'a key with a dot',
      user_name: 1,
      userName: 2,
      ['__proto__']: 3,
    });
    await store.put(frozen(['users', 'ada']), 'prefs', value);
    const item = await store.get(['users', 'ada'], 'prefs');
    expect(item?.value).toEqual(value);
    expect(Object.hasOwn(item?.value ?? {}, '__proto__')).toBe(true);
    expect(item).toMatchObject({ namespace: ['users', 'ada'], key: 'prefs' });
    expect(item?.createdAt).toBeInstanceOf(Date);
    expect(item?.updatedAt).toEqual(item?.createdAt);
    expect(await store.get(['users', 'ada'], 'Prefs')).toBeNull();
    expect(await store.get(['users'], 'prefs')).toBeNull();
    expect(await store.get(['users', 'ada', 'prefs'], 'prefs')).toBeNull();
  });

  test('a second put replaces the value: one entry, the same id, first written when it was', async () => {
    const store = newStore({ index: { fields: ['text'] } });
    await store.put(['n'], 'k', { text: 'Tea.', gone: 1 });
    const first = await store.get(['n'], 'k');
    const [entry] = (await backend.operator.list({ namespaces: [`${store.root}.n`] })).entries;
    await new Promise((resolve) => setTimeout(resolve, 5));
    await store.put(['n'], 'k', { text: 'Coffee.' });
    const second = await store.get(['n'], 'k');
    expect(second?.value).toEqual({ text: 'Coffee.' });
    expect(second?.createdAt).toEqual(first?.createdAt);
    expect(second?.updatedAt.getTime()).toBeGreaterThan(first?.updatedAt.getTime() ?? Number.NaN);

    await new Promise((resolve) => setTimeout(resolve, 5));
    await store.put(['n'], 'k', { text: 'Coffee.', more: true });
    const third = await store.get(['n'], 'k');
    expect(third?.value).toEqual({ text: 'Coffee.', more: true });
    expect(third?.updatedAt.getTime()).toBeGreaterThan(second?.updatedAt.getTime() ?? Number.NaN);
    const { entries } = await backend.operator.list({ namespaces: [`${store.root}.n`], lifecycle: 'any' });
    expect(entries.map(({ id }) => id)).toEqual([entry?.id]);
  });

  test('what others keep in the metadata of an entry stays when its item is put again', async () => {
    const store = newStore();
    await store.put(['n'], 'k', { a: 1 });
    const [entry] = (await backend.operator.list({ namespaces: [`${store.root}.n`] })).entries;
    await backend.operator.update(entry?.id ?? '', { metadata: { ...entry?.metadata, checked: 'by hand' } });
    await store.put(['n'], 'k', { a: 2 });
    const again = await backend.operator.get(entry?.id ?? '');
    expect(again.metadata).toMatchObject({ checked: 'by hand', langgraph: { key: 'k', value: { a: 2 } } });
  });

  test('items that say the same are two items, one after the other and at once', async () => {
    const store = newStore({ index: { fields: ['text'] } });
    const value = { text: 'Ada likes tea.' };
    await store.put(['n'], 'a', value);
    await store.put(['n'], 'b', value);
    await store.put(['m'], 'a', value);
    const together = Array.from({ length: 6 }, (_, index) => ({ namespace: ['n'], key: `c${index}`, value }));
    await store.batch(together);
    await Promise.all(Array.from({ length: 6 }, (_, index) => store.put(['n'], `d${index}`, value)));
    const expected = ['a', 'a', 'b', ...together.map(({ key }) => key), 'd0', 'd1', 'd2', 'd3', 'd4', 'd5'];
    expect(keysOf(await store.search([], { limit: 50 }))).toEqual(expected);
    // A recall folds equal contents into one hit; a store has every item.
    const found = await store.search([], { query: 'tea', limit: 50 });
    expect(keysOf(found)).toEqual(expected);
    for (const { score } of found) expect(score).toBeGreaterThan(0);
    await store.put(['n'], 'b', { text: 'Ada likes cocoa.' });
    await store.delete(['n'], 'a');
    expect((await store.get(['n'], 'b'))?.value).toEqual({ text: 'Ada likes cocoa.' });
    expect((await store.get(['n'], 'c0'))?.value).toEqual(value);
  });

  test('stores on one memory that write one key at once leave one item (CASES F1)', async () => {
    const store = newStore();
    const others = Array.from({ length: 4 }, () => new PalimpsestStore(backend.memory, { root: store.root }));
    await Promise.all(others.map((other, index) => other.put(['n'], 'k', { by: index })));
    const { entries } = await backend.operator.list({ namespaces: [`${store.root}.n`] });
    expect(entries).toHaveLength(1);
    const item = await store.get(['n'], 'k');
    expect(others.map((_, by) => ({ by }))).toContainEqual(item?.value);
  });

  test('puts of one key keep their order, awaited or not', async () => {
    const store = newStore();
    await Promise.all(Array.from({ length: 8 }, (_, count) => store.put(['n'], 'k', { count })));
    expect((await store.get(['n'], 'k'))?.value).toEqual({ count: 7 });
  });

  test('deleted is gone, is put anew, and deleting what is not there is no fault', async () => {
    const store = newStore();
    await store.put(['n'], 'k', { a: 1 });
    await store.delete(['n'], 'k');
    await store.delete(['n'], 'k');
    expect(await store.get(['n'], 'k')).toBeNull();
    expect(await store.search(['n'])).toEqual([]);
    expect(await store.listNamespaces()).toEqual([]);
    await store.put(['n'], 'k', { a: 2 });
    expect((await store.get(['n'], 'k'))?.value).toEqual({ a: 2 });
  });

  test('labels that a path could confuse are kept apart (CASES A4, A1, A3)', async () => {
    const store = newStore();
    const namespaces = [
      ['a', 'b.c'],
      ['a', 'b', 'c'],
      ['a', 'b~2ec'],
      ['a.b', 'c'],
      ['t', 'acme'],
      ['t', 'acme-corp'],
      ['t', 'a_me'],
      ['*'],
      ['größe', '東京'],
      ['a b'],
    ];
    await store.batch(namespaces.map((namespace, n) => ({ namespace, key: 'k', value: { n } })));
    for (const [n, namespace] of namespaces.entries()) {
      const [item] = await store.batch([{ namespace, key: 'k' }]);
      expect(item).toMatchObject({ namespace, value: { n } });
    }
    expect((await store.search(['t', 'acme'])).map(({ value }) => value.n)).toEqual([4]);
    expect((await store.search(['a', 'b'])).map(({ value }) => value.n)).toEqual([1]);
    expect(await store.search(['t', 'a%'])).toEqual([]);
    expect(await store.listNamespaces({ limit: 100 })).toHaveLength(namespaces.length);
    expect(await store.listNamespaces({ limit: 100 })).toEqual(expect.arrayContaining(namespaces));
  });

  test('namespaces that LangGraph refuses are refused, with its own error', async () => {
    const store = newStore();
    for (const namespace of [[], ['a.b'], ['a:b'], [''], ['langgraph', 'x'], ['a\0']]) {
      await expect(store.put(namespace, 'k', {})).rejects.toThrow(InvalidNamespaceError);
    }
    await expect(store.batch([{ namespace: [], key: 'k', value: {} }])).rejects.toThrow(
      InvalidNamespaceError,
    );
    await expect(store.get([], 'k')).rejects.toThrow(InvalidNamespaceError);
    await expect(store.delete([], 'k')).rejects.toThrow(InvalidNamespaceError);
    const empty = await rejection(store.batch([{ namespace: ['a', ''], key: 'k', value: {} }]));
    expect(empty.details[0]?.path).toBe('namespace[1]');
    const deep = await rejection(store.put(Array(13).fill('x'), 'k', {}));
    expect(deep.message).toContain('more than 16 segments');
    expect(await store.search([])).toEqual([]);
    // As deep as a path can be, there is nothing below to look for.
    await store.put(Array(12).fill('x'), 'k', {});
    expect(await store.search(Array(12).fill('x'))).toHaveLength(1);
  });

  test('values that can not be kept are refused with their place, and nothing of the batch is written', async () => {
    const store = newStore();
    const put = (value: Record<string, unknown>) =>
      rejection(
        store.batch([
          { namespace: ['n'], key: 'good', value: { a: 1 } },
          { namespace: ['n'], key: 'bad', value },
        ]),
      );
    expect((await put({ a: { b: 'x\0' } })).message).toContain('value.a.b');
    expect((await put({ 'k\0': 1 })).message).toContain('NUL');
    expect((await put({ a: [Number.NaN] })).details[0]?.path).toBe('value.a[0]');
    expect((await put({ a: new Map([[1, 2]]) })).details[0]?.path).toBe('value.a');
    expect((await put({ a: 1n })).details[0]?.path).toBe('value.a');
    expect((await put({ a: '\ud800' })).message).toContain('surrogate');
    expect((await put({ a: 'x'.repeat(70_000) })).message).toContain('more than 65536 bytes');
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    expect((await put(circle)).message).toContain('nested deeper');
    expect((await rejection(store.put(['n'], 'a\0', {}))).message).toContain('NUL');
    expect((await rejection(store.put(['n'], 'k', [] as never))).message).toContain('value');
    expect(await store.search(['n'])).toEqual([]);
  });

  test('dates become texts and undefined fields are left out, as JSON has it', async () => {
    const store = newStore();
    const at = new Date('2026-05-02T09:30:00Z');
    await store.put(['n'], 'k', { at, none: undefined, list: [{ none: undefined, a: 1 }] });
    expect((await store.get(['n'], 'k'))?.value).toEqual({ at: at.toISOString(), list: [{ a: 1 }] });
  });

  test('a filter is exact, knows LangGraph’s operators and refuses others (CASES B3, B5, B8)', async () => {
    const store = newStore();
    const values = {
      a: { color: 'red', size: 1, 'x.y': 'flat', tags: ['s'] },
      b: { color: 'blue', size: 2, x: { y: 'nested' } },
      c: { size: 10, color: null },
      d: { other: true },
    };
    await store.batch(Object.entries(values).map(([key, value]) => ({ namespace: ['f'], key, value })));
    const find = async (filter: Record<string, unknown>) => keysOf(await store.search(['f'], { filter }));
    expect(await find({ color: 'red' })).toEqual(['a']);
    expect(await find({ color: { $eq: 'blue' } })).toEqual(['b']);
    expect(await find({ color: null })).toEqual(['c']);
    expect(await find({ color: { $ne: 'red' } })).toEqual(['b', 'c', 'd']);
    expect(await find({ size: { $gt: 1, $lte: 10 } })).toEqual(['b', 'c']);
    expect(await find({ size: { $gte: 2 }, color: 'blue' })).toEqual(['b']);
    expect(await find({ size: { $lt: 2 } })).toEqual(['a']);
    expect(await find({ color: { $in: ['red', 'blue'] } })).toEqual(['a', 'b']);
    expect(await find({ color: { $nin: ['red'] } })).toEqual(['b', 'c', 'd']);
    expect(await find({ 'x.y': 'flat' })).toEqual(['a']);
    expect(await find({ x: { y: 'nested' } })).toEqual(['b']);
    expect(await find({ tags: ['s'] })).toEqual(['a']);
    expect(await find({ "color' OR '1'='1": 'x' })).toEqual([]);
    expect(await find({ key: 'a' })).toEqual([]);
    expect(await find({})).toEqual(['a', 'b', 'c', 'd']);
    expect((await rejection(find({ size: { $gtr: 5 } }))).message).toContain('$gtr');
    expect((await rejection(find({ size: { $in: 'alice' } }))).code).toBe('invalid_input');
    expect((await rejection(find({ size: {} }))).message).toContain('says nothing');
    expect((await rejection(find({ size: undefined }))).message).toContain('undefined');
  });

  test('without a query items come newest first, and pages neither repeat nor skip one', async () => {
    const store = newStore();
    for (let index = 0; index < 5; index += 1) await store.put(['p'], `k${index}`, { index });
    await store.batch(
      Array.from({ length: 20 }, (_, index) => ({
        namespace: ['p', 'q'],
        key: `m${index}`,
        value: { index },
      })),
    );
    expect(await store.search(['p'])).toHaveLength(10);
    const pages = [];
    for (let offset = 0; offset < 28; offset += 4) {
      pages.push(...(await store.search(['p'], { limit: 4, offset })));
    }
    expect(new Set(keysOf(pages)).size).toBe(25);
    expect(pages.slice(-5).map(({ key }) => key)).toEqual(['k4', 'k3', 'k2', 'k1', 'k0']);
    expect(pages[0]).not.toHaveProperty('score');
    expect(await store.search(['p'], { limit: 0 })).toEqual([]);
    expect((await rejection(store.search(['p'], { limit: -1 }))).details[0]?.path).toBe('limit');
    expect((await rejection(store.search(['p'], { offset: 1.5 }))).details[0]?.path).toBe('offset');
    expect((await rejection(store.search(['p'], { query: 'x', limit: 201 }))).message).toContain('200');
  });

  test('with a query items are ranked by their indexed text, and items without one stand behind them', async () => {
    const store = newStore({ index: { fields: ['text', 'notes[*].body'] } });
    await store.put(['r'], 'tea', { text: 'Ada prefers tea over coffee.', id: 'zebra' });
    await store.put(['r'], 'boat', { text: 'The boat leaves on Friday.' });
    await store.put(['r'], 'notes', { notes: [{ body: 'Harbour' }, { body: 'A zebra crossing.' }] });
    await store.put(['r'], 'hidden', { text: 'tea tea tea' }, false);
    await store.put(['r'], 'own', { title: 'Green tea', text: 'Nothing.' }, ['title']);
    await store.put(['r'], 'blank', { text: '  ' });
    const tea = await store.search(['r'], { query: 'tea or coffee' });
    expect(tea[0]?.key).toBe('tea');
    expect(tea.map(({ key }) => key).slice(0, 2)).toEqual(['tea', 'own']);
    expect(keysOf(tea)).toEqual(['blank', 'boat', 'hidden', 'notes', 'own', 'tea']);
    expect(keysOf(tea.slice(-2))).toEqual(['blank', 'hidden']);
    const scores = tea.slice(0, -2).map(({ score }) => score ?? Number.NaN);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores[0]).toBeGreaterThan(0.4);
    expect(tea.at(-1)).not.toHaveProperty('score');
    const [zebra] = await store.search(['r'], { query: 'zebra', limit: 1 });
    expect(zebra?.key).toBe('notes');
    const pages = await Promise.all(
      [0, 2, 4].map((offset) => store.search(['r'], { query: 'tea or coffee', offset, limit: 2 })),
    );
    expect(pages.flat().map(({ key }) => key)).toEqual(tea.map(({ key }) => key));
    expect(keysOf(await store.search(['r'], { query: 'tea', filter: { id: 'zebra' } }))).toEqual(['tea']);
    expect(await store.search(['r'], { query: '' })).toHaveLength(6);
  });

  test('namespaces are listed by prefix, suffix, wildcard and depth', async () => {
    const store = newStore();
    const namespaces = [
      ['docs', 'ada', 'v1'],
      ['docs', 'ada', 'v2'],
      ['docs', 'bob', 'v1'],
      ['docs'],
      ['docs-x', 'ada'],
      ['users', 'ada'],
    ];
    await store.batch(namespaces.map((namespace) => ({ namespace, key: 'k', value: {} })));
    expect(await store.listNamespaces()).toEqual([
      ['docs'],
      ...namespaces.slice(0, 3),
      ...namespaces.slice(4),
    ]);
    expect(await store.listNamespaces({ prefix: ['docs', 'ada'] })).toEqual(namespaces.slice(0, 2));
    expect(await store.listNamespaces({ suffix: ['v1'] })).toEqual([namespaces[0], namespaces[2]]);
    expect(await store.listNamespaces({ prefix: ['docs', '*', 'v1'] })).toEqual([
      namespaces[0],
      namespaces[2],
    ]);
    expect(await store.listNamespaces({ prefix: ['docs'], maxDepth: 2 })).toEqual([
      ['docs'],
      ['docs', 'ada'],
      ['docs', 'bob'],
    ]);
    expect(await store.listNamespaces({ prefix: ['docs'], suffix: ['*', 'v2'] })).toEqual([namespaces[1]]);
    expect(await store.listNamespaces({ maxDepth: 1, limit: 2, offset: 1 })).toEqual([['docs-x'], ['users']]);
    expect(await store.listNamespaces({ prefix: [] })).toHaveLength(6);
    expect((await rejection(store.listNamespaces({ maxDepth: 0 }))).details[0]?.path).toBe('maxDepth');
    const wrong = { matchType: 'infix' as never, path: ['docs'] };
    expect(
      (await rejection(store.batch([{ matchConditions: [wrong], limit: 1, offset: 0 }]))).details[0]?.path,
    ).toBe('matchType');
  });

  test('an item with a time to live is gone after it, and then a new one', async () => {
    let now = Date.now();
    const store = newStore({ ttl: { defaultTtl: 60 }, clock: () => now });
    await store.put(['t'], 'default', { a: 1 });
    await store.put(['t'], 'never', { a: 2 }, undefined, { ttl: null });
    await store.put(['t'], 'short', { a: 3 }, undefined, { ttl: 0.5 });
    const { entries } = await backend.operator.list({ namespaces: [`${store.root}.t`] });
    const minutesOf = new Map(
      entries.map(({ metadata, expiresAt }) => [
        Object(metadata.langgraph).key,
        expiresAt === null ? null : (expiresAt.getTime() - now) / 60_000,
      ]),
    );
    expect(minutesOf).toEqual(
      new Map([
        ['short', 0.5],
        ['never', null],
        ['default', 60],
      ]),
    );
    // The memory's own clock decides what is expired, so the item is written as if an hour ago.
    now -= 3_600_000;
    await store.put(['t'], 'short', { a: 3 }, undefined, { ttl: 1 });
    expect(await store.get(['t'], 'short')).toBeNull();
    expect(keysOf(await store.search(['t']))).toEqual(['default', 'never']);
    now += 3_600_000;
    await store.put(['t'], 'short', { a: 3 }, undefined, { ttl: null });
    expect((await store.get(['t'], 'short'))?.value).toEqual({ a: 3 });
    await store.put(['t'], 'default', { a: 1 }, undefined, { ttl: null });
    const later = await backend.operator.list({ namespaces: [`${store.root}.t`] });
    expect(later.entries.map(({ expiresAt }) => expiresAt)).toEqual([null, null, null]);
    expect((await rejection(store.put(['t'], 'k', {}, undefined, { ttl: 0 }))).details[0]?.path).toBe('ttl');
  });

  test('a batch answers in its order, reads what was there before it, and its last put counts', async () => {
    const store = newStore();
    await store.put(['b'], 'old', { n: 0 });
    const results: readonly unknown[] = await store.batch([
      { namespace: ['b'], key: 'old', value: { n: 1 } },
      { namespace: ['b'], key: 'old' },
      { namespace: ['b'], key: 'new', value: { n: 1 } },
      { namespacePrefix: ['b'] },
      { namespace: ['b'], key: 'new', value: { n: 2 } },
      { namespace: ['b'], key: 'none' },
      { limit: 10, offset: 0 },
    ]);
    expect(results[0]).toBeUndefined();
    expect(results[1]).toMatchObject({ value: { n: 0 } });
    expect(results[3]).toMatchObject([{ key: 'old', value: { n: 0 } }]);
    expect(results[5]).toBeNull();
    expect(results[6]).toEqual([['b']]);
    expect((await store.get(['b'], 'old'))?.value).toEqual({ n: 1 });
    expect((await store.get(['b'], 'new'))?.value).toEqual({ n: 2 });
    const removed = await store.batch([
      { namespace: ['b'], key: 'new', value: { n: 3 } },
      { namespace: ['b'], key: 'new', value: null },
    ]);
    expect(removed).toHaveLength(2);
    expect(await store.get(['b'], 'new')).toBeNull();
  });

  test('a thousand items are written together and found by key', async () => {
    const store = newStore({ index: { fields: ['text'] } });
    const puts = Array.from({ length: 1000 }, (_, n) => ({
      namespace: ['many'],
      key: `k${n}`,
      // Some say the same.
      value: { text: `Item ${n % 990}`, n },
    }));
    await store.batch(puts);
    const gets = await store.batch(puts.slice(0, 30).map(({ namespace, key }) => ({ namespace, key })));
    expect(gets.map((item) => item?.value.n)).toEqual(Array.from({ length: 30 }, (_, n) => n));
    expect((await store.get(['many'], 'k999'))?.value.n).toBe(999);
    const all = await store.search(['many'], { limit: 2000 });
    expect(new Set(all.map(({ value }) => value.n)).size).toBe(1000);
  }, 60_000);

  test('entries below the root that no store has written are not items', async () => {
    const store = newStore();
    await store.put(['n'], 'k', { text: 'An item about tea.' });
    await backend.operator.remember({ namespace: `${store.root}.n`, content: 'A note about tea.' });
    await backend.operator.remember({
      namespace: `${store.root}.n`,
      content: 'A fake about tea.',
      metadata: { langgraph: { key: 'k2', value: 'no object' } },
    });
    expect(keysOf(await store.search([], { query: 'tea' }))).toEqual(['k']);
    expect(keysOf(await store.search([]))).toEqual(['k']);
    expect(await store.get(['n'], 'k2')).toBeNull();
  });

  test('inside a graph LangGraph wraps it, and a failure reaches who asked', async () => {
    const store = newStore();
    const batched = new AsyncBatchedStore(store);
    batched.start();
    await batched.put(['w'], 'k', { a: 1 });
    const [item, found] = await Promise.all([batched.get(['w'], 'k'), batched.search(['w'])]);
    expect(item?.value).toEqual({ a: 1 });
    expect(found).toHaveLength(1);
    expect((await rejection(batched.put(['w'], 'k', { a: '\0' }))).code).toBe('invalid_input');
    await batched.stop();
  });

  test('a graph’s nodes remember across threads', async () => {
    const store = newStore({ index: { fields: ['text'] } });
    const State = Annotation.Root({ said: Annotation<string>, recalled: Annotation<string[]> });
    const graph = new StateGraph(State)
      .addNode('remember', async ({ said }, { store: memories }) => {
        const found = (await memories?.search(['facts'], { query: said })) ?? [];
        await memories?.put(['facts'], `${found.length}`, { text: said });
        return { recalled: found.map(({ value }) => value.text) };
      })
      .addEdge(START, 'remember')
      .compile({ store });
    expect(await graph.invoke({ said: 'I prefer tea.' })).toMatchObject({ recalled: [] });
    expect(await graph.invoke({ said: 'Which tea?' })).toMatchObject({ recalled: ['I prefer tea.'] });
    expect(keysOf(await store.search(['facts']))).toEqual(['0', '1']);
  });

  test('its options are checked', () => {
    const make = (options: object) => refusal(() => new PalimpsestStore(backend.memory, options as never));
    expect(make({ root: 'a..b' }).details[0]?.path).toBe('root');
    expect(make({ root: 'a.*' }).details[0]?.path).toBe('root');
    expect(make({ root: 'a', fields: [] }).message).toContain('fields');
    expect(make({ root: 'a', ttl: { defaultTtl: 0 } }).details[0]?.path).toBe('ttl.defaultTtl');
  });

  test('the same operations as on LangGraph’s own store leave the same items', async () => {
    const stores: BaseStore[] = [newStore(), new InMemoryStore()];
    const seen = await Promise.all(
      stores.map(async (store) => {
        await store.put(['u', 'a'], 'k', { n: 1, s: 'x' });
        await store.put(['u', 'a'], 'k', { n: 2 });
        await store.put(['u', 'b'], 'k', { n: 3 });
        await store.delete(['u', 'b'], 'none');
        return {
          got: (await store.get(['u', 'a'], 'k'))?.value,
          found: (await store.search(['u'], { filter: { n: { $gte: 2 } } }))
            .map(({ value }) => value.n)
            .sort(),
          namespaces: await store.listNamespaces({ prefix: ['u'] }),
        };
      }),
    );
    expect(seen[0]).toEqual(seen[1]);
  });
});
