import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PalimpsestError } from '../../src/core/errors.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import type { OpenedMemory } from '../../src/library/opened-memory.ts';
import { DAY_MS, openTestMemory, type TestMemory } from '../helpers/test-memory.ts';

/**
 * Inputs that broke memory systems elsewhere, as a caller of this one sends them, on the backend of the suite
 * and with the embedding that ships. The names of the cases are those of the reports' collection.
 */

let opened: TestMemory;
let memory: OpenedMemory;

beforeAll(async () => {
  opened = await openTestMemory();
  memory = opened.memory;
});
afterAll(() => opened.close());

const refusedAs = (code: string) => expect.objectContaining({ name: 'PalimpsestError', code });

/** Values a typed caller can't write, but a caller without types can. */
const untyped = <T>(value: unknown): T => value as T;

async function contentsOf(namespaces: readonly string[]): Promise<string[]> {
  const { hits } = await memory.recall({ namespaces, topK: 200 });
  return hits.map(({ entry }) => entry.content).sort();
}

async function write(namespace: string, contents: readonly string[]): Promise<string[]> {
  const results = await memory.rememberMany(contents.map((content) => ({ namespace, content })));
  return results.map(({ entry }) => entry.id);
}

describe('namespaces', () => {
  test('A1: an underscore is no wildcard', async () => {
    await write('a1.user.john-doe.m', ['dash']);
    await write('a1.user.john_doe.m', ['underscore']);
    expect(await contentsOf(['a1.user.john_doe.*'])).toEqual(['underscore']);
    expect(await contentsOf(['a1.user.john%doe.*'].map((pattern) => pattern.replace('%', '_')))).toEqual([
      'underscore',
    ]);
    await expect(contentsOf(['a1.user.john%doe.*'])).rejects.toEqual(refusedAs('invalid_input'));
  });

  test('A3: segment borders count; a path reads itself alone, and * everything', async () => {
    await write('a3.acme', ['acme itself']);
    await write('a3.acme.x', ['below acme']);
    await write('a3.acme-corp.x', ['acme-corp']);
    expect(await contentsOf(['a3.acme.*'])).toEqual(['below acme']);
    expect(await contentsOf(['a3.acme'])).toEqual(['acme itself']);
    expect(await contentsOf(['a3.*'])).toEqual(['acme itself', 'acme-corp', 'below acme']);
    expect((await contentsOf(['*'])).length).toBeGreaterThanOrEqual(3);
  });

  test('A4: a dot separates, so no segment can hold one and no two paths are one key', async () => {
    await write('a4.a.b', ['x']);
    for (const namespace of ['a4.a..b', 'a4.', '.a4', 'a4.a\u200b', 'a4.a/b', 'a4.a b', 'a4.*', 'a4.${x}']) {
      await expect(memory.remember({ namespace, content: 'x' })).rejects.toEqual(refusedAs('invalid_input'));
    }
    expect(await contentsOf(['a4.*'])).toEqual(['x']);
  });

  test('A5: identity in metadata or in the body moves nothing to anybody', async () => {
    const alice = memory.as({ userId: 'alice' });
    const bob = memory.as({ userId: 'bob' });
    const { entry } = await alice.remember({ namespace: 'vector.user.alice.a5', content: 'mine' });
    const forged = { user_id: 'bob', owner_id: 'bob', tenant_id: 'x', namespace: 'vector.user.bob.a5' };
    const updated = await alice.update(entry.id, { metadata: forged });
    expect([updated.ownerId, updated.tenantId, updated.namespace]).toEqual([
      'alice',
      'default',
      'vector.user.alice.a5',
    ]);
    await expect(bob.get(entry.id)).rejects.toEqual(refusedAs('not_found'));
    expect((await bob.recall({ namespaces: ['vector.user.alice.*'] })).hits).toEqual([]);
    for (const field of ['ownerId', 'tenantId', 'userId', 'owner_id', 'id', 'status', 'accessCount']) {
      const body = untyped<never>({ namespace: 'vector.user.alice.a5', content: 'x', [field]: 'bob' });
      await expect(alice.remember(body)).rejects.toEqual(refusedAs('invalid_input'));
    }
  });
});

describe('filters', () => {
  const namespace = 'filters.n';
  const found = async (metadata: Record<string, unknown>) => {
    const filter = { metadata: untyped<Record<string, never>>(metadata) };
    const { hits } = await memory.recall({ namespaces: [namespace], filter, topK: 200 });
    return hits.map(({ entry }) => entry.content).sort();
  };

  beforeAll(async () => {
    await memory.rememberMany([
      { namespace, content: 'f1', metadata: { f: 1, user: 'alice', project: 'atlas' } },
      { namespace, content: 'f2', metadata: { f: 2, user: 'a', project: '*' } },
      { namespace, content: 'none', metadata: {} },
      { namespace, content: 'flat', metadata: { 'a.b': 1 } },
      { namespace, content: 'nested', metadata: { a: { b: 1 } } },
      { namespace, content: 'odd', metadata: { 'with space': 1, 'da-sh': 1, $d: 1, '😀': 1, and: 1 } },
    ]);
  });

  test('B1: a metadata key never becomes SQL', async () => {
    expect(await found({ "author' = 'alice' OR '1'='1' --": 'zzz' })).toEqual([]);
    expect(await found({ "f' IS NOT NULL) OR (true": 1 })).toEqual([]);
    expect(await found({ user: "alice' OR '1'='1" })).toEqual([]);
  });

  test('B3: keys with dots, flat or nested, and keys with any other character', async () => {
    expect(await found({ 'a.b': 1 })).toEqual(['flat', 'nested']);
    expect(await found({ 'a\\.b': 1 })).toEqual(['flat']);
    for (const key of ['with space', 'da-sh', '$d', '😀', '\\and'])
      expect(await found({ [key]: 1 })).toEqual(['odd']);
  });

  test('B5: in wants a list, not a word to walk through', async () => {
    await expect(found({ user: { in: 'alice' } })).rejects.toEqual(refusedAs('invalid_input'));
    expect(await found({ user: { in: ['alice'] } })).toEqual(['f1']);
  });

  test('B6: ne and nin hold for entries without the key', async () => {
    const others = ['f2', 'flat', 'nested', 'none', 'odd'];
    expect(await found({ f: { ne: 1 } })).toEqual(others);
    expect(await found({ f: { nin: [1] } })).toEqual(others);
    expect(await found({ f: { ne: 1, exists: true } })).toEqual(['f2']);
  });

  test('B8: an unknown operator is refused, and named', async () => {
    for (const operator of ['$gtr', 'gtr', '$gt', 'like']) {
      await expect(found({ f: { [operator]: 5 } })).rejects.toThrow(operator);
    }
  });

  test('B11: "*" means that the key exists', async () => {
    expect(await found({ project: '*' })).toEqual(['f1', 'f2']);
    expect(await found({ project: { eq: '*' } })).toEqual(['f2']);
  });
});

describe('scores', () => {
  test('C2: times in the future, far past and exactly one day off give finite scores in range', async () => {
    const times = [3_600_000, 10 * DAY_MS, 100 * 365 * DAY_MS, -DAY_MS].map(
      (offset) => new Date(opened.now() + offset),
    );
    await memory.rememberMany(
      [...times, new Date('0001-01-01T00:00:00Z')].map((observedAt, index) => ({
        namespace: 'c2.n',
        content: `tea number ${index}`,
        observedAt,
      })),
    );
    for (const profile of ['boosted', 'weighted']) {
      const { hits } = await memory.recall({
        query: 'tea number',
        namespaces: ['c2.n'],
        profile,
        minScore: 0,
        topK: 200,
      });
      expect(hits).toHaveLength(5);
      for (const { score, breakdown } of hits) {
        expect(Number.isFinite(score)).toBe(true);
        const recency = breakdown?.factors.find(({ signal }) => signal === 'recency');
        expect(recency?.value).toBeGreaterThanOrEqual(0);
        expect(recency?.value).toBeLessThanOrEqual(1);
      }
    }
  });

  test('C5: a query that has nothing to do with what is stored finds nothing, and one hit is not blown up', async () => {
    await write('c5.n', ['the cat sleeps on the sofa']);
    const unrelated = await memory.recall({ query: 'quarterly revenue forecast', namespaces: ['c5.n'] });
    expect(unrelated.hits).toEqual([]);
    const [hit] = (await memory.recall({ query: 'a cat on a mat', namespaces: ['c5.n'], minScore: 0 })).hits;
    expect(hit?.similarity).toBeGreaterThan(0.2);
    expect(hit?.similarity).toBeLessThan(0.95);
  });

  test('C9: the floor reads the final relevance, and the trace names the line that cut', async () => {
    await memory.remember({ namespace: 'c9.n', content: 'green tea leaves water' });
    const recalled = (bonus: number) =>
      memory.rules
        .put({ pattern: 'c9.*', bonus })
        .then(() => memory.recall({ query: 'tea ceremony house', namespaces: ['c9.n'], minScore: 0.35 }));
    const below = await recalled(0);
    expect(below.hits).toEqual([]);
    const [cut] = below.trace.cut;
    expect([cut?.reason, cut?.threshold]).toEqual(['min_score', 0.35]);
    const lifted = await recalled(1);
    expect(lifted.hits[0]?.similarity).toBe(cut?.candidate.similarity);
    expect(lifted.hits[0]?.relevance).toBeGreaterThan(0.35);
    await memory.rules.delete('c9.*');
  });

  test('C12: a hundred recalls leave counters, versions and order as they were', async () => {
    await write('c12.n', ['tea one', 'tea two', 'tea three']);
    const state = async () => {
      const { hits } = await memory.recall({ query: 'tea', namespaces: ['c12.n'], minScore: 0 });
      const { entries } = await memory.list({ namespaces: ['c12.n'] });
      return JSON.stringify([hits.map(({ entry, score }) => [entry, score]), entries]);
    };
    const before = await state();
    for (let round = 0; round < 100; round += 1) await memory.recall({ query: 'tea', namespaces: ['c12.n'] });
    expect(await state()).toBe(before);
  });
});

describe('embeddings', () => {
  test('D5: text without a token is stored, listed and never NaN', async () => {
    await write('d5.n', ['…!?', 'tea']);
    const { hits } = await memory.recall({
      query: 'tea',
      namespaces: ['d5.n'],
      minScore: 0,
      relativeCutoff: 0,
    });
    expect(hits.map(({ entry, similarity }) => [entry.content, similarity])).toEqual([
      ['tea', 1],
      ['…!?', 0],
    ]);
    expect(JSON.stringify(hits)).not.toContain('NaN');
    const mute = await memory.recall({ query: '?!', namespaces: ['d5.n'], minScore: 0 });
    expect(mute.hits.map(({ similarity }) => similarity)).toEqual([0, 0]);
    expect((await memory.list({ namespaces: ['d5.n'] })).entries).toHaveLength(2);
  });

  test('D9: changed content is found by its new words, not by its old ones', async () => {
    const [id = ''] = await write('d9.n', ['the door is red']);
    await memory.update(id, { content: 'the door is blue' });
    await write('d9.n', ['a red apple']);
    const first = async (query: string) =>
      (await memory.recall({ query, namespaces: ['d9.n'], minScore: 0 })).hits[0]?.entry.content;
    expect(await first('red')).toBe('a red apple');
    expect(await first('blue')).toBe('the door is blue');
  });
});

describe('content', () => {
  test('E1: NUL and lone surrogates are refused everywhere, and the rest of a batch is untouched', async () => {
    const namespace = 'e1.n';
    for (const bad of ['a\u0000b', '\ud800', 'x\udc00']) {
      for (const draft of [
        { namespace, content: bad },
        { namespace, content: 'x', metadata: { [bad]: 1 } },
        { namespace, content: 'x', metadata: { a: { b: [bad] } } },
        { namespace, content: 'x', tags: [bad] },
        { namespace, content: 'x', type: bad },
        { namespace: `e1.${bad}`, content: 'x' },
        { namespace, content: 'x', source: { kind: 'chat', ref: bad } },
      ]) {
        await expect(memory.remember(draft)).rejects.toEqual(refusedAs('invalid_input'));
      }
      await expect(memory.recall({ query: bad })).rejects.toEqual(refusedAs('invalid_input'));
      await expect(
        memory.rememberMany([
          { namespace, content: 'good' },
          { namespace, content: bad },
        ]),
      ).rejects.toThrow('1');
    }
    expect(await contentsOf(['e1.*'])).toEqual([]);
  });

  test('E4: blank content is refused', async () => {
    for (const content of ['', ' \n', '\t\u00a0\u3000', [], null, undefined, 7, {}]) {
      const draft = { namespace: 'e4.n', content: untyped<string>(content) };
      await expect(memory.remember(draft)).rejects.toEqual(refusedAs('invalid_input'));
    }
    await expect(memory.remember(untyped<never>({ namespace: 'e4.n' }))).rejects.toEqual(
      refusedAs('invalid_input'),
    );
  });

  test('E5: a text at the limit is stored and recognised again; one beyond it is refused with the limit', async () => {
    const content = `${'long text '.repeat(6_553)}ends.`;
    expect(new TextEncoder().encode(content).length).toBeLessThanOrEqual(65_536);
    const first = await memory.remember({ namespace: 'e5.n', content });
    const again = await memory.remember({ namespace: 'e5.n', content });
    expect([again.operation, again.entry.id]).toEqual(['refresh', first.entry.id]);
    await expect(memory.remember({ namespace: 'e5.n', content: `${content}too long` })).rejects.toThrow(
      /65.?536|64 KiB/,
    );
  });
});

describe('life', () => {
  test('F5: what is deleted is gone from every way of finding it at once, and takes no place', async () => {
    const [gone = ''] = await write('f5.n', ['tea a', 'tea b', 'tea c']);
    await memory.forget(gone);
    const { hits } = await memory.recall({ query: 'tea', namespaces: ['f5.n'], topK: 2, minScore: 0 });
    expect(hits.map(({ entry }) => entry.content).sort()).toEqual(['tea b', 'tea c']);
    expect((await memory.list({ namespaces: ['f5.n'] })).entries).toHaveLength(2);
    expect((await memory.list({ namespaces: ['f5.n'], text: 'tea' })).entries).toHaveLength(2);
    expect((await memory.get(gone)).deletedAt).toBeInstanceOf(Date);
  });

  test('F7: of a near-identical old and new pair only the new one is found', async () => {
    const [old = ''] = await write('f7.n', ['Anna lives in Bonn']);
    await memory.supersede(old, { namespace: 'f7.n', content: 'Anna lives in Berlin' });
    const { hits } = await memory.recall({ query: 'Anna lives in Bonn', namespaces: ['f7.n'], minScore: 0 });
    expect(hits.map(({ entry }) => entry.content)).toEqual(['Anna lives in Berlin']);
  });

  test('F9: an expired entry can be extended, and is found again', async () => {
    const { entry } = await memory.remember({
      namespace: 'f9.n',
      content: 'short-lived',
      expiresAt: new Date(opened.now() + 1000),
    });
    opened.advance(2000);
    expect(await contentsOf(['f9.n'])).toEqual([]);
    await memory.update(entry.id, { expiresAt: new Date(opened.now() + DAY_MS) });
    expect(await contentsOf(['f9.n'])).toEqual(['short-lived']);
  });

  test('F11: writing the same text after thirty days renews its age, keeps its birth and its confirmation', async () => {
    const first = await memory.remember({ namespace: 'f11.n', content: 'the same' });
    await memory.confirm(first.entry.id);
    opened.advance(30 * DAY_MS);
    const { entry } = await memory.remember({ namespace: 'f11.n', content: 'the same' });
    expect([entry.id, entry.createdAt, entry.status]).toEqual([
      first.entry.id,
      first.entry.createdAt,
      'confirmed',
    ]);
    expect(entry.updatedAt.getTime()).toBe(opened.now());
  });

  test('F18: updating what does not exist creates nothing', async () => {
    const before = (await memory.list({ lifecycle: 'any', limit: 500 })).entries.length;
    for (const id of ['01900000-0000-7000-8000-00000000dead', 'nonsense', '']) {
      await expect(memory.update(id, { content: 'x' })).rejects.toEqual(refusedAs('not_found'));
    }
    expect((await memory.list({ lifecycle: 'any', limit: 500 })).entries.length).toBe(before);
  });

  test('G1: five hundred entries of one moment come once each, page by page', async () => {
    const batch = Array.from({ length: 500 }, (_, index) => ({
      namespace: 'g1.n',
      content: `entry ${index}`,
    }));
    await memory.rememberMany(batch);
    const seen = new Set<string>();
    let count = 0;
    let cursor: string | undefined;
    do {
      const page = await memory.list({ namespaces: ['g1.n'], limit: 13, cursor });
      for (const { id } of page.entries) seen.add(id);
      count += page.entries.length;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect([seen.size, count]).toEqual([500, 500]);
  });

  test('G3: limits that are no sensible number are refused', async () => {
    for (const number of [-1, 0, 1.5, 1e9, Number.NaN, Number.POSITIVE_INFINITY, '5', null]) {
      await expect(memory.list({ limit: untyped<number>(number) })).rejects.toEqual(
        refusedAs('invalid_input'),
      );
      await expect(memory.recall({ topK: untyped<number>(number) })).rejects.toEqual(
        refusedAs('invalid_input'),
      );
    }
  });
});

describe('F14: a failing dependency is an error, never an empty list', () => {
  const broken: EmbeddingProvider = {
    ...createHashingProvider(),
    embed: () => Promise.reject(new Error('the service is down')),
  };

  test('a failing embedding provider: nothing written, nothing found, the words still listed', async () => {
    const failing = await openTestMemory(broken);
    try {
      const draft = { namespace: 'f14.n', content: 'tea' };
      await expect(failing.memory.remember(draft)).rejects.toEqual(refusedAs('embedding_failed'));
      await expect(failing.memory.rememberMany([draft])).rejects.toEqual(refusedAs('embedding_failed'));
      await expect(failing.memory.recall({ query: 'tea' })).rejects.toEqual(refusedAs('embedding_failed'));
      expect((await failing.memory.list({})).entries).toEqual([]);
    } finally {
      await failing.close();
    }
  });

  test('a closed store: every call says so', async () => {
    const closed = await openTestMemory();
    await closed.memory.close();
    const unavailable = (error: unknown) =>
      PalimpsestError.isInstance(error) && error.code === 'store_unavailable'
        ? 'store_unavailable'
        : String(error);
    await expect(closed.memory.recall({ query: 'tea' }).catch(unavailable)).resolves.toBe(
      'store_unavailable',
    );
    await expect(closed.memory.list({}).catch(unavailable)).resolves.toBe('store_unavailable');
    await closed.close();
  });
});
