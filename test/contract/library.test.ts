import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ErrorCode, PalimpsestError } from '../../src/core/errors.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import type { OpenedMemory } from '../../src/library/opened-memory.ts';
import { frozen } from '../helpers/frozen.ts';
import { openTestMemory, type TestMemory } from '../helpers/test-memory.ts';

/** The library as its users meet it, on the backend of the suite. */

let opened: TestMemory;
let memory: OpenedMemory;

beforeAll(async () => {
  opened = await openTestMemory();
  memory = opened.memory;
});

afterAll(() => opened.close());

const UNKNOWN_ID = '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f';

async function refusalOf(work: Promise<unknown>): Promise<PalimpsestError> {
  const outcome: unknown = await work.catch((error: unknown) => error);
  if (PalimpsestError.isInstance(outcome)) return outcome;
  return expect.unreachable(`nothing was refused, but answered ${JSON.stringify(outcome)}`);
}

async function codeOf(work: Promise<unknown>): Promise<ErrorCode> {
  return (await refusalOf(work)).code;
}

/** Freezes an input whole, so that any change to it throws. */
describe('inputs', () => {
  test('frozen ones work everywhere, and none is kept (CASES G17)', async () => {
    const draft = frozen({
      namespace: 'frozen.a',
      content: 'Frozen tea leaves.',
      type: 'fact',
      metadata: { list: [1, { deep: true }] },
      tags: ['b', 'a'],
      source: { kind: 'chat', ref: '1' },
      importance: 0,
      observedAt: new Date(0),
    });
    const { entry } = await memory.remember(draft);
    await memory.rememberMany(frozen([draft, { namespace: 'frozen.a', content: 'Frozen coffee beans.' }]));
    await memory.update(entry.id, frozen({ tags: ['c'], metadata: { list: [] } }));
    const filter = frozen({
      type: ['fact'],
      tags: { any: ['c'], all: ['c'] },
      observedAt: { from: new Date(0), until: '1970-01-02' },
      metadata: { list: { eq: [] } },
    });
    const { hits, traceId } = await memory.recall(
      frozen({ query: 'tea leaves', namespaces: ['frozen.*'], filter, minScore: 0, topK: 1 }),
    );
    expect(hits.map((hit) => hit.entry.id)).toEqual([entry.id]);
    await memory.list(frozen({ namespaces: ['frozen.*'], filter, limit: 1 }));
    await memory.feedback(frozen({ memoryId: entry.id, traceId, signal: 'useful' as const }));
    await memory.rules.put(frozen({ pattern: 'frozen.*', bonus: 0 }));
    await memory.supersede(entry.id, frozen({ namespace: 'frozen.a', content: 'Fresh tea leaves.' }));
    await memory.importEntries(frozen([draft]));
    const metadata: { changed: boolean } = { changed: false };
    const stored = await memory.remember({ namespace: 'frozen.b', content: 'Kept apart.', metadata });
    metadata.changed = true;
    expect((await memory.get(stored.entry.id)).metadata).toEqual({ changed: false });
  });

  test('metadata keys are the caller’s own, in whatever case (CASES G14)', async () => {
    const metadata = { userName: 1, user_name: 2, observedAt: 'x', observed_at: 'y' };
    const { entry } = await memory.remember({ namespace: 'case', content: 'Case matters.', metadata });
    expect((await memory.get(entry.id)).metadata).toEqual(metadata);
  });

  test('a misspelt field is refused in the library’s names', async () => {
    const draft = { namespace: 'a', content: 'x', observed_at: '2026-01-01' };
    const error = await refusalOf(memory.remember(draft));
    expect(error.message).toBe('observed_at: this field is unknown. Did you mean observedAt?');
    const filter = await refusalOf(memory.recall({ query: 'x', filter: { metaData: {} } } as object));
    expect(filter.message).toBe('filter.metaData: this field is unknown. Did you mean metadata?');
  });

  test('refusals name fields as the library does', async () => {
    const late = await refusalOf(memory.remember({ namespace: 'a', content: 'x', observedAt: '2026-02-30' }));
    expect(late.details[0]?.path).toBe('observedAt');
    expect(late.message).toMatch(/^observedAt: this date or time does not exist/);
    const many = await refusalOf(memory.recall({ query: 'x', topK: 201 }));
    expect(many.details[0]?.path).toBe('topK');
    expect(many.message).toMatch(/^topK is 201/);
    const item = await refusalOf(
      memory.rememberMany([
        { namespace: 'a', content: 'x' },
        { namespace: 'a', content: 'x', expiresAt: new Date(Number.NaN) },
      ]),
    );
    expect(item.details[0]).toMatchObject({ path: 'memories[1].expiresAt', item: 1 });
  });

  test('values of the wrong kind are refused as such, never an accident', async () => {
    const loose = memory as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>;
    const wrong: [string, unknown[]][] = [
      ['remember', [null]],
      ['remember', ['text']],
      ['rememberMany', ['text']],
      ['rememberMany', [[null]]],
      ['recall', [5]],
      ['list', [[]]],
      ['update', [UNKNOWN_ID, null]],
      ['update', [UNKNOWN_ID, { importance: 1 }, { ifVersion: 1.5 }]],
      ['supersede', [UNKNOWN_ID, null]],
      ['supersede', [UNKNOWN_ID, { id: UNKNOWN_ID, content: 'x' }]],
      ['feedback', [{}]],
      ['importEntries', [[{ namespace: 'a' }]]],
    ];
    for (const [method, values] of wrong) {
      expect([method, await codeOf(loose[method]?.(...values) ?? Promise.resolve())]).toEqual([
        method,
        'invalid_input',
      ]);
    }
    for (const method of ['get', 'forget', 'history']) {
      expect(await codeOf(loose[method]?.(5) ?? Promise.resolve())).toBe('not_found');
    }
    expect(await codeOf(memory.rules.delete('vec*'))).toBe('invalid_input');
    expect(await codeOf(memory.rules.delete('no.such.rule'))).toBe('not_found');
  });

  test('zero is a value', async () => {
    const { entry } = await memory.remember({ namespace: 'zero', content: 'Zero tea.', importance: 0 });
    expect(entry.importance).toBe(0);
    const open = await memory.recall({
      query: 'coffee',
      namespaces: ['zero'],
      minScore: 0,
      relativeCutoff: 0,
    });
    expect(open.hits).toHaveLength(1);
    expect(open.trace.parameters).toMatchObject({ minScore: 0, relativeCutoff: 0 });
    const rule = await memory.rules.put({ pattern: 'zero', bonus: 0 });
    expect(rule.bonus).toBe(0);
    for (const topK of [0, -1, 1.5, 201, Number.NaN]) {
      expect(await codeOf(memory.recall({ query: 'x', topK }))).toBe('invalid_input');
    }
  });
});

describe('writes', () => {
  test('the same content refreshes; fifty at once are one entry and fifty equal answers', async () => {
    const draft = { namespace: 'refresh', content: 'The same tea.' };
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => memory.remember({ ...draft, tags: [`t${index % 3}`] })),
    );
    expect(new Set(results.map(({ entry }) => entry.id)).size).toBe(1);
    expect(results.filter(({ operation }) => operation === 'create')).toHaveLength(1);
    opened.advance(1000);
    const again = await memory.remember(draft);
    expect(again).toMatchObject({
      operation: 'refresh',
      entry: { tags: expect.arrayContaining(['t0', 't1', 't2']) },
    });
    expect(again.entry.updatedAt.getTime() - again.entry.createdAt.getTime()).toBe(1000);
  });

  test('a write may ask for a new entry, and then refreshes none', async () => {
    const draft = { namespace: 'only-new', content: 'Written once.' };
    const { entry } = await memory.remember(draft, { ifNew: true });
    const error = await refusalOf(memory.remember({ ...draft, tags: ['late'] }, { ifNew: true }));
    expect(error).toMatchObject({ code: 'precondition_failed', details: [{ got: entry.id }] });
    const batch = [{ ...draft, content: 'Another.' }, draft];
    expect((await refusalOf(memory.rememberMany(batch, { ifNew: true }))).details[0]?.item).toBe(1);
    expect((await memory.list({ namespaces: ['only-new'] })).entries).toEqual([entry]);
    expect((await memory.remember(draft, { ifNew: false })).operation).toBe('refresh');
    // @ts-expect-error: the name is what this test is about.
    expect((await refusalOf(memory.remember(draft, { onlyNew: true }))).code).toBe('invalid_input');
  });

  test('what tools ask is under the policy of their agent', async () => {
    const bob = memory.as({ userId: 'bob' });
    const draft = { namespace: 'vector.user.bob.tools', content: 'Bob likes boats.' };
    const agent = bob.onBehalfOf({ agentId: 'unknown' });
    expect(await codeOf(agent.forTools().remember(draft))).toBe('forbidden');
    expect((await agent.remember(draft)).operation).toBe('create');
    expect((await bob.forTools().remember(draft)).operation).toBe('refresh');
    expect((await agent.forTools().recall({ query: 'boats' })).hits).toHaveLength(1);
  });

  test('namespaces come by path, a page at a time, with what they hold', async () => {
    await memory.rememberMany(
      ['b', 'a', 'a.x'].map((below) => ({ namespace: `pages.${below}`, content: below })),
    );
    const first = await memory.namespaces({ namespace: 'pages.*', limit: 2 });
    expect(first.namespaces.map(({ path, liveCount }) => [path, liveCount])).toEqual([
      ['pages.a', 1],
      ['pages.a.x', 1],
    ]);
    const second = await memory.namespaces({
      namespace: 'pages.*',
      limit: 2,
      cursor: first.nextCursor ?? '',
    });
    expect(second.namespaces.map(({ path }) => path)).toEqual(['pages.b']);
    expect(second.nextCursor).toBeNull();
    const others = await memory.as({ userId: 'nobody-yet' }).namespaces({ namespace: ['pages.*'] });
    expect(others).toEqual({ namespaces: [], nextCursor: null });
    expect((await refusalOf(memory.namespaces({ limit: 0 }))).details[0]?.path).toBe('limit');
  });

  test('a batch is all or nothing, and names the item', async () => {
    const error = await refusalOf(
      memory.rememberMany([
        { namespace: 'batch', content: 'Good.' },
        { namespace: 'batch', content: '\u0000' },
      ]),
    );
    expect(error.details[0]).toMatchObject({ item: 1, path: 'memories[1].content' });
    expect((await memory.list({ namespaces: ['batch'] })).entries).toEqual([]);
  });

  test('identity inside metadata is only metadata', async () => {
    const metadata = { user_id: 'bob', owner_id: 'bob', namespace: 'vector.user.bob.x', tenant_id: 'other' };
    const alice = memory.as({ userId: 'alice' });
    const { entry } = await alice.remember({ namespace: 'vector.user.alice.n', content: 'Mine.' });
    const updated = await alice.update(entry.id, { metadata });
    expect(updated).toMatchObject({
      tenantId: 'default',
      ownerId: 'alice',
      createdBy: 'alice',
      namespace: 'vector.user.alice.n',
    });
    expect(await codeOf(memory.as({ userId: 'bob' }).get(entry.id))).toBe('not_found');
  });

  test('ids that are unknown, malformed or another tenant’s answer alike, and nothing is made', async () => {
    const foreign = await memory
      .as({ userId: 'eve', tenantId: 'other' })
      .remember({ namespace: 'vector.user.eve.n', content: 'Elsewhere.' });
    const before = await memory.list({ lifecycle: 'any', limit: 500 });
    for (const id of [UNKNOWN_ID, 'no-uuid', '', '\u0000', foreign.entry.id]) {
      expect(await codeOf(memory.get(id))).toBe('not_found');
      expect(await codeOf(memory.update(id, { content: 'x' }))).toBe('not_found');
      expect(await codeOf(memory.confirm(id))).toBe('not_found');
      expect(await codeOf(memory.unconfirm(id))).toBe('not_found');
      expect(await codeOf(memory.forget(id))).toBe('not_found');
      expect(await codeOf(memory.restore(id))).toBe('not_found');
      expect(await codeOf(memory.purge(id))).toBe('not_found');
      expect(await codeOf(memory.history(id))).toBe('not_found');
      expect(await codeOf(memory.supersede(id, { namespace: 'a', content: 'x' }))).toBe('not_found');
      const feedback = { memoryId: id, traceId: UNKNOWN_ID, signal: 'useful' as const };
      expect(await codeOf(memory.feedback(feedback))).toBe('not_found');
    }
    const after = await memory.list({ lifecycle: 'any', limit: 500 });
    expect(after.entries).toEqual(before.entries);
  });

  test('an id in capitals is the same id', async () => {
    const { entry } = await memory.remember({ namespace: 'capitals', content: 'Id.' });
    expect((await memory.get(entry.id.toUpperCase())).id).toBe(entry.id);
  });

  test('an entry says what has become of it, and a chain is read from either end', async () => {
    const first = await memory.remember({ namespace: 'chain', content: 'We deploy on Mondays.' });
    const second = await memory.supersede(first.entry.id, { namespace: 'chain', content: 'On Tuesdays.' });
    const third = await memory.remember({ namespace: 'chain', content: 'On Wednesdays.' });
    await memory.supersede(second.successor.id, { id: third.entry.id });
    expect(await memory.get(first.entry.id)).toMatchObject({
      status: 'superseded',
      supersededBy: second.successor.id,
    });
    for (const id of [first.entry.id, second.successor.id, third.entry.id]) {
      const { entries } = await memory.history(id);
      expect(entries.map(({ content }) => content)).toEqual([
        'We deploy on Mondays.',
        'On Tuesdays.',
        'On Wednesdays.',
      ]);
    }
    await memory.forget(third.entry.id);
    expect((await memory.get(third.entry.id)).deletedAt).toBeInstanceOf(Date);
    expect((await memory.restore(third.entry.id)).deletedAt).toBeNull();
    await memory.purge(third.entry.id);
    expect(await codeOf(memory.get(third.entry.id))).toBe('not_found');
  });

  test('changed content clears a confirmation; changed metadata keeps it', async () => {
    const { entry } = await memory.remember({ namespace: 'confirm', content: 'Checked.' });
    await memory.confirm(entry.id);
    expect(await memory.update(entry.id, { metadata: { a: 1 }, importance: 1 })).toMatchObject({
      status: 'confirmed',
      confirmedBy: 'local',
      content: 'Checked.',
    });
    expect(await memory.update(entry.id, { content: 'Unchecked.' })).toMatchObject({
      status: 'unconfirmed',
      confirmedAt: null,
      metadata: { a: 1 },
      importance: 1,
    });
  });

  test('an update may ask for the version it was based on', async () => {
    const { entry } = await memory.remember({ namespace: 'version', content: 'One.' });
    const updated = await memory.update(entry.id, { importance: 1 }, { ifVersion: entry.version });
    expect(updated.version).toBeGreaterThan(entry.version);
    const stale = memory.update(entry.id, { importance: 0 }, { ifVersion: entry.version });
    expect(await codeOf(stale)).toBe('precondition_failed');
  });
});

describe('what repeated writes grow to', () => {
  const half = (key: string) => ({ [key]: 'x'.repeat(40_000) });

  test('is bounded as any input is, so that what is exported can be imported', async () => {
    const { entry } = await memory.remember({ namespace: 'grown', content: 'grow', metadata: half('a') });
    const other = { namespace: 'grown', content: 'other' };
    const batch = [other, { namespace: 'grown', content: 'grow', metadata: half('b') }];
    const refusal = await refusalOf(memory.rememberMany(batch));
    expect(refusal).toMatchObject({ code: 'invalid_input', details: [{ path: 'metadata', item: 1 }] });
    expect((await memory.list({ namespaces: ['grown'] })).entries.map(({ content }) => content)).toEqual([
      'grow',
    ]);
    await memory.update(entry.id, { metadata: (await memory.get(entry.id)).metadata });
  });

  test('names the item of a batch that repeats a text too richly', async () => {
    const tags = (prefix: string) => Array.from({ length: 40 }, (_, index) => `${prefix}${index}`);
    const draft = { namespace: 'grown.tags', content: 'rich' };
    const batch = [
      { ...draft, content: 'first' },
      { ...draft, tags: tags('a') },
      { ...draft, tags: tags('b') },
    ];
    const refusal = await refusalOf(memory.rememberMany(batch));
    expect(refusal).toMatchObject({ code: 'invalid_input', details: [{ path: 'tags', item: 2 }] });
  });

  test('names the item whose text an entry holds already, richly, and writes none', async () => {
    const tags = (prefix: string) => Array.from({ length: 40 }, (_, index) => `${prefix}${index}`);
    const namespace = 'grown.batch';
    await memory.remember({ namespace, content: 'held', tags: tags('a'), metadata: half('a') });
    const batchWith = (item: object) => [
      { namespace, content: 'first' },
      { namespace, content: 'held', ...item },
      { namespace, content: 'last' },
    ];
    const tooMany = await refusalOf(memory.rememberMany(batchWith({ tags: tags('b') })));
    expect(tooMany).toMatchObject({ code: 'invalid_input', details: [{ path: 'tags', item: 1 }] });
    const most = { b: 'x'.repeat(60_000) };
    const tooMuch = await refusalOf(memory.rememberMany(batchWith({ metadata: { ...most } })));
    expect(tooMuch).toMatchObject({ code: 'invalid_input', details: [{ path: 'metadata', item: 1 }] });
    const alone = await refusalOf(memory.remember({ namespace, content: 'held', tags: tags('b') }));
    expect(alone).toMatchObject({ code: 'invalid_input', details: [{ path: 'tags' }] });
    expect(alone.details[0]).not.toHaveProperty('item');
    const { entries } = await memory.list({ namespaces: [namespace] });
    expect(entries.map(({ content }) => content)).toEqual(['held']);
    await memory.rememberMany(batchWith({ tags: tags('a') }));
  });

  test('names the line of an import, though it is the only one', async () => {
    const tags = (prefix: string) => Array.from({ length: 40 }, (_, index) => `${prefix}${index}`);
    const draft = { namespace: 'grown.import', content: 'held' };
    await memory.importEntries([{ ...draft, tags: tags('a') }]);
    const refusal = await refusalOf(memory.importEntries([{ ...draft, tags: tags('b') }]));
    expect(refusal).toMatchObject({ code: 'invalid_input', details: [{ path: 'tags', item: 0 }] });
  });

  test('of numbers that PostgreSQL writes out at length, is told before anything is written', async () => {
    const long = { numbers: Array.from({ length: 1000 }, () => 1e300) };
    const { entry } = await memory.remember({ namespace: 'grown.numbers', content: 'long' });
    const refusals = await Promise.all([
      refusalOf(memory.update(entry.id, { metadata: long })),
      refusalOf(memory.remember({ namespace: 'grown.numbers', content: 'longer', metadata: long })),
    ]);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: 'invalid_input', details: [{ path: 'metadata' }] });
    }
    const fitting = { numbers: Array.from({ length: 200 }, () => 1e300) };
    expect((await memory.update(entry.id, { metadata: fitting })).metadata).toEqual(fitting);
  });
});

describe('a batch item without a namespace', () => {
  test('is named, as one that may not be written to is', async () => {
    const drafts = [{ namespace: 'placed', content: 'one' }, { content: 'two' }];
    expect(await refusalOf(memory.rememberMany(drafts))).toMatchObject({
      code: 'invalid_input',
      details: [{ path: 'memories[1].namespace', item: 1 }],
    });
    const foreign = [
      { namespace: 'vector.user.dan.a', content: 'one' },
      { namespace: 'placed', content: 'two' },
    ];
    expect(await refusalOf(memory.as({ userId: 'dan' }).rememberMany(foreign))).toMatchObject({
      code: 'forbidden',
      details: [{ path: 'memories[1].namespace', item: 1 }],
    });
  });
});

describe('users', () => {
  test('each reaches what is theirs, the shared, and what a grant opens', async () => {
    const alice = memory.as({ userId: 'ann' });
    const bob = memory.as({ userId: 'ben', readGrants: ['team.atlas.*'] });
    await alice.remember({ namespace: 'vector.user.ann.notes', content: 'Private tea.' });
    await memory.remember({ namespace: 'vector.global.facts', content: 'Shared tea.' });
    await memory.remember({ namespace: 'team.atlas.minutes', content: 'Team tea.' });
    const seen = async (user: typeof alice) => {
      const { hits } = await user.recall({ query: 'tea', minScore: 0, topK: 200 });
      return hits.map(({ entry }) => entry.content).toSorted();
    };
    expect(await seen(alice)).toEqual(['Private tea.', 'Shared tea.']);
    expect(await seen(bob)).toEqual(['Shared tea.', 'Team tea.']);
    const foreign = bob.recall({ query: 'tea', namespaces: ['vector.user.ann.*'], minScore: 0 });
    expect((await foreign).hits).toEqual([]);
    expect(await codeOf(bob.remember({ namespace: 'vector.user.ann.notes', content: 'x' }))).toBe(
      'forbidden',
    );
    expect(await codeOf(bob.remember({ namespace: 'team.atlas.minutes', content: 'x' }))).toBe('forbidden');
    expect(await codeOf(bob.remember({ namespace: 'vector.global.facts', content: 'x' }))).toBe('forbidden');
  });

  test('an id that is no segment of a path is refused, and so is a bad grant', () => {
    for (const userId of ['', 'a.b', '*', 'a b', '${user_id}']) {
      expect(() => memory.as({ userId })).toThrow(PalimpsestError);
    }
    expect(() => memory.as({ userId: 'a', readGrants: ['vec*'] })).toThrow('readGrants[0]');
  });
});

describe('streams', () => {
  test('an export comes back whole', async () => {
    const drafts = Array.from({ length: 1203 }, (_, index) => ({
      namespace: `stream.n${index % 7}`,
      content: `Entry number ${index}.`,
      type: 'fact',
      tags: [`t${index % 3}`],
      metadata: { index },
      importance: index / 2000,
    }));
    const steps: number[] = [];
    const written = await memory.importEntries(drafts, ({ stored }) => steps.push(stored));
    expect(written).toEqual({ stored: 1203, created: 1203, refreshed: 0 });
    expect(steps).toEqual([500, 1000, 1203]);
    const exported = [];
    for await (const entry of memory.exportEntries({ namespaces: ['stream.*'] })) exported.push(entry);
    const known = exported.map(({ namespace, content, type, tags, metadata, importance }) => {
      return { namespace, content, type, tags, metadata, importance };
    });
    const byIndex = (a: { metadata: object }, b: { metadata: object }) =>
      JSON.stringify(a.metadata).localeCompare(JSON.stringify(b.metadata));
    expect(known.toSorted(byIndex)).toEqual(drafts.toSorted(byIndex));
  });

  test('a list pages through ties, inserts and deletes without repeating or skipping', async () => {
    await memory.rememberMany(
      Array.from({ length: 500 }, (_, index) => ({ namespace: 'pages', content: `Page text ${index}.` })),
    );
    const seen: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page: Awaited<ReturnType<typeof memory.list>> = await memory.list({
        namespaces: ['pages'],
        limit: 13,
        cursor,
      });
      seen.push(...page.entries.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
      pages += 1;
      if (pages === 5) {
        opened.advance(1000);
        await memory.remember({ namespace: 'pages', content: 'Inserted between two pages.' });
        await memory.forget(seen[0] ?? '');
      }
    } while (cursor !== undefined);
    // 500 = 38 × 13 + 6
    expect(pages).toBe(39);
    expect(new Set(seen).size).toBe(500);
  });
});

describe('failures', () => {
  test('a failing embedding provider is an error, never an empty list, and nothing is written', async () => {
    const failing: EmbeddingProvider = {
      modelId: 'failing',
      dimensions: 4,
      embed: () => Promise.reject(new Error('429 too many requests')),
    };
    const broken = await openTestMemory(failing);
    try {
      const draft = { namespace: 'a', content: 'Tea.' };
      expect(await codeOf(broken.memory.remember(draft))).toBe('embedding_failed');
      expect(await codeOf(broken.memory.rememberMany([draft]))).toBe('embedding_failed');
      expect(await codeOf(broken.memory.recall({ query: 'tea' }))).toBe('embedding_failed');
      expect(await codeOf(broken.memory.importEntries([draft]))).toBe('embedding_failed');
      expect((await broken.memory.list({ lifecycle: 'any' })).entries).toEqual([]);
    } finally {
      await broken.close();
    }
  });
});
