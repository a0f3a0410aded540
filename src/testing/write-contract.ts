import assert from 'node:assert/strict';
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
  rejectsWith,
  sha256,
  user,
  writeOne,
} from './contract-fixtures.ts';

/** SPEC section 1: writing, refreshing, batches. */
export const writeContract: ContractSuite = {
  subject: 'writing',
  cases: [
    {
      name: 'a new entry has every field as sent, and defaults for the rest',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, {
          namespace: 'team.plans',
          content: 'Ship on Friday 🚢',
          metadata: { a: { b: [1, null, 'x'] }, userName: 1, user_name: 2 },
          tags: ['plan', 'ship'],
          source: { kind: 'chat', ref: 'c-1' },
          importance: 0,
          type: 'decision',
          observedAt: new Date('0001-01-01T00:00:00.000Z'),
          expiresAt: new Date('9999-12-31T23:59:59.999Z'),
        });
        assert.match(entry.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
        assert.deepEqual(await readOne(store, access, entry.id), {
          id: entry.id,
          tenantId,
          ownerId: null,
          createdBy: 'local',
          namespace: 'team.plans',
          type: 'decision',
          content: 'Ship on Friday 🚢',
          contentHash: sha256('Ship on Friday 🚢'),
          metadata: { a: { b: [1, null, 'x'] }, userName: 1, user_name: 2 },
          tags: ['plan', 'ship'],
          source: { kind: 'chat', ref: 'c-1' },
          importance: 0,
          status: 'unconfirmed',
          confirmedAt: null,
          confirmedBy: null,
          supersededBy: null,
          supersededAt: null,
          observedAt: new Date('0001-01-01T00:00:00.000Z'),
          createdAt: new Date(NOON),
          updatedAt: new Date(NOON),
          expiresAt: new Date('9999-12-31T23:59:59.999Z'),
          deletedAt: null,
          accessCount: 0,
          validatedAccessCount: 0,
          version: 1,
        });
        const plain = await writeOne(store, access, { namespace: 'team.plans', content: 'plain' });
        assert.equal(plain.importance, 0.5);
        assert.equal(plain.type, 'note');
        assert.deepEqual([plain.tags, plain.metadata, plain.source], [[], {}, null]);
      },
    },
    {
      name: 'the owner is read off the path, whoever writes',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const ownerOf = async (namespace: string) =>
          (await writeOne(store, access, { namespace, content: 'x' })).ownerId;
        assert.equal(await ownerOf('vector.user.u1'), 'u1');
        assert.equal(await ownerOf('vector.user.u1.notes'), 'u1');
        assert.equal(await ownerOf('vector.agent.u2.howto.sql'), 'u2');
        assert.equal(await ownerOf('vector.global.facts'), null);
        assert.equal(await ownerOf('vector.user'), null);
        assert.equal(await ownerOf('team.user.u1'), null);
      },
    },
    {
      name: 'a write that asks for new entries only refuses a batch that would refresh one, and stores nothing',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const first = await writeOne(store, access, { namespace: 'a.b', content: 'tea', tags: ['kept'] });
        const write = (...contents: string[]) =>
          store.write(
            access,
            contents.map((content) => prepared({ namespace: 'a.b', content, tags: ['new'] })),
            at(NOON + MINUTE),
            { ifNew: true },
          );
        await rejectsWith('precondition_failed', write('tea'));
        await rejectsWith('precondition_failed', write('coffee', 'tea'));
        await rejectsWith('precondition_failed', write('milk', 'milk'));
        assert.deepEqual(await readOne(store, access, first.id), first);
        const results = await write('coffee', 'milk');
        assert.deepEqual(
          results.map(({ operation }) => operation),
          ['create', 'create'],
        );
        await store.forget(access, first.id, at(NOON + MINUTE));
        const [again] = await write('tea');
        assert.ok(again, 'a deleted entry holds no content');
        assert.notEqual(again.entry.id, first.id);
      },
    },
    {
      name: 'of parallel writes that ask for a new entry, one makes it',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const outcomes = await Promise.allSettled(
          Array.from({ length: 10 }, () =>
            store.write(access, [prepared({ namespace: 'a.b', content: 'once' })], at(NOON), { ifNew: true }),
          ),
        );
        assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
      },
    },
    {
      name: 'the same content in the same namespace refreshes the entry (CASES F11)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const first = await writeOne(store, access, {
          namespace: 'a.b',
          content: 'tea, not coffee',
          tags: ['drink'],
          metadata: { by: 'x', n: 1 },
          importance: 0.9,
          type: 'preference',
        });
        await store.confirm(access, first.id, at(NOON + MINUTE));
        const later = NOON + 30 * DAY;
        const [again] = await store.write(
          access,
          [
            prepared({
              namespace: 'a.b',
              content: 'tea, not coffee',
              tags: ['warm', 'drink'],
              metadata: { n: 2 },
            }),
          ],
          at(later),
        );
        assert.ok(again);
        assert.equal(again.operation, 'refresh');
        const { entry } = again;
        assert.equal(entry.id, first.id);
        assert.deepEqual(entry.createdAt, new Date(NOON));
        assert.deepEqual(entry.updatedAt, new Date(later));
        assert.deepEqual(entry.tags, ['drink', 'warm']);
        assert.deepEqual(entry.metadata, { by: 'x', n: 2 });
        assert.equal(entry.importance, 0.9, 'what the repeated write did not say is kept');
        assert.equal(entry.type, 'preference');
        assert.equal(entry.status, 'confirmed', 'the confirmed text is still there');
        const zero = await writeOne(store, access, {
          namespace: 'a.b',
          content: 'tea, not coffee',
          importance: 0,
        });
        assert.equal(zero.importance, 0, 'what it says is taken, and 0 is a value');
      },
    },
    {
      name: 'the same content in two namespaces is two entries',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const one = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        const two = await writeOne(store, access, { namespace: 'a.c', content: 'x' });
        assert.notEqual(one.id, two.id);
      },
    },
    {
      name: 'a refresh never makes an entry older, even when a clock runs behind',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        await writeOne(store, access, { namespace: 'a.b', content: 'x' }, { now: NOON });
        const again = await writeOne(store, access, { namespace: 'a.b', content: 'x' }, { now: NOON - DAY });
        assert.deepEqual(again.updatedAt, new Date(NOON));
      },
    },
    {
      name: 'fifty parallel writes of one text are one entry and fifty equal answers (CASES F1)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const results = await Promise.all(
          Array.from({ length: 50 }, () =>
            store.write(access, [prepared({ namespace: 'a.b', content: 'same' })], at(NOON)),
          ),
        );
        const ids = new Set(results.flat().map(({ entry }) => entry.id));
        assert.equal(ids.size, 1);
        assert.equal(results.flat().filter(({ operation }) => operation === 'create').length, 1);
        const { entries } = await store.list(access, {
          scope: null,
          filter: {},
          lifecycle: 'any',
          limit: 10,
          after: null,
          now: NOON,
        });
        assert.equal(entries.length, 1);
      },
    },
    {
      name: 'twenty parallel writes of different texts are all kept (CASES F2)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            store.write(access, [prepared({ namespace: 'a.b', content: `text ${index}` })], at(NOON)),
          ),
        );
        assert.equal((await candidatesOf(store, access, { namespaces: ['a.b'] })).length, 20);
      },
    },
    {
      name: 'a batch is all or nothing, and keeps its order',
      async run({ store, tenantId }) {
        const access = user(tenantId, 'u1');
        const draft = (content: string, namespace = 'vector.user.u1.n') => prepared({ namespace, content });
        await rejectsWith(
          'forbidden',
          store.write(access, [draft('one'), draft('two', 'vector.user.u2.n')], at(NOON)),
        );
        assert.deepEqual(await store.read(operator(tenantId), (view) => view.namespaces(null)), []);
        const results = await store.write(access, [draft('b'), draft('a'), draft('b')], at(NOON));
        assert.deepEqual(
          results.map(({ operation, entry }) => [operation, entry.content]),
          [
            ['create', 'b'],
            ['create', 'a'],
            ['refresh', 'b'],
          ],
        );
        assert.deepEqual(await store.write(access, [], at(NOON)), []);
      },
    },
    {
      name: 'a text that occurs twice in a batch says what both say',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const [first, second] = await store.write(
          access,
          [
            prepared({
              namespace: 'a.b',
              content: 'x',
              tags: ['1'],
              metadata: { a: 1, b: 1 },
              importance: 0.1,
            }),
            prepared({ namespace: 'a.b', content: 'x', tags: ['2'], metadata: { b: 2 } }),
          ],
          at(NOON),
        );
        assert.equal(first?.entry.id, second?.entry.id);
        assert.deepEqual(second?.entry.tags, ['1', '2']);
        assert.deepEqual(second?.entry.metadata, { a: 1, b: 2 });
        assert.equal(second?.entry.importance, 0.1);
      },
    },
    {
      name: 'a long text is recognised again by its hash (CASES E5)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        // Digests do not compress, so the row really is long.
        const content = Array.from({ length: 16_000 }, (_, index) => sha256(String(index))).join('');
        assert.ok(content.length > 1_000_000);
        const first = await writeOne(store, access, { namespace: 'a.b', content });
        const again = await writeOne(store, access, { namespace: 'a.b', content });
        assert.equal(again.id, first.id);
        assert.equal(again.content.length, content.length);
      },
    },
    {
      name: 'tags and metadata that merging would grow beyond their limit are refused, and nothing changes',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const draft = { namespace: 'a.b', content: 'x' };
        const tags = (from: number) => Array.from({ length: 40 }, (_, index) => `tag ${from + index}`);
        const first = await writeOne(store, access, {
          ...draft,
          tags: tags(0),
          metadata: { a: 'x'.repeat(60_000) },
        });
        await rejectsWith('invalid_input', writeOne(store, access, { ...draft, tags: tags(40) }));
        await rejectsWith(
          'invalid_input',
          writeOne(store, access, { ...draft, metadata: { b: 'x'.repeat(60_000) } }),
        );
        const after = await readOne(store, access, first.id);
        assert.deepEqual([after?.tags.length, Object.keys(after?.metadata ?? {})], [40, ['a']]);
      },
    },
    {
      name: 'the longest namespace path is stored and found; one the database can’t index is refused',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const longest = Array.from({ length: 16 }, (_, index) => sha256(String(index)).repeat(2)).join('.');
        await writeOne(store, access, { namespace: longest, content: 'x' });
        assert.equal((await candidatesOf(store, access, { namespaces: [longest] })).length, 1);
        // Letters of four bytes each that do not repeat, so that nothing of the path compresses away.
        const wide = Array.from({ length: 16 }, (_, segment) =>
          String.fromCodePoint(
            ...Array.from(
              { length: 128 },
              (_, place) => 0x20000 + (((segment * 128 + place) * 7919) % 40_000),
            ),
          ),
        ).join('.');
        await rejectsWith('invalid_input', writeOne(store, access, { namespace: wide, content: 'x' }));
      },
    },
    {
      name: 'writing an expired text again renews the entry',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const draft = { namespace: 'a.b', content: 'x' };
        const first = await writeOne(store, access, { ...draft, expiresAt: new Date(NOON + MINUTE) });
        const now = NOON + DAY;
        assert.deepEqual(await candidatesOf(store, access, { namespaces: ['a.b'], now }), []);
        const again = await writeOne(store, access, draft, { now });
        assert.equal(again.id, first.id);
        assert.equal(again.expiresAt, null);
        assert.equal((await candidatesOf(store, access, { namespaces: ['a.b'], now })).length, 1);
        const later = await writeOne(store, access, { ...draft, expiresAt: new Date(now + DAY) }, { now });
        const kept = await writeOne(store, access, draft, { now });
        assert.deepEqual(kept.expiresAt, later.expiresAt, 'an expiry that has not come is kept');
      },
    },
    {
      name: 'text without a token has no vector, and is stored and listed all the same (CASES D5)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, { namespace: 'a.b', content: '…!' }, { vector: null });
        await writeOne(store, access, { namespace: 'a.b', content: 'words' });
        const candidates = await candidatesOf(store, access, { namespaces: ['a.b'] });
        assert.deepEqual(
          candidates.map(({ similarity }) => similarity),
          [1, 0],
        );
        assert.equal(candidates[1]?.id, entry.id);
      },
    },
    {
      name: 'a namespace’s version rises with every change that can alter a ranking',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const versionOf = async () =>
          (await store.read(access, (view) => view.namespaces(['a.b'])))[0]?.version ?? 0;
        const entry = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        let last = await versionOf();
        assert.equal(entry.version, last);
        const rises = async (change: () => Promise<unknown>) => {
          await change();
          const next = await versionOf();
          assert.ok(next > last, `${change} must raise the version above ${last}`);
          last = next;
        };
        const traceId = '01900000-0000-7000-8000-000000000001';
        await rises(() => writeOne(store, access, { namespace: 'a.b', content: 'x' }));
        await rises(() => store.update(access, entry.id, { patch: { importance: 1 } }, at(NOON)));
        await rises(() => store.confirm(access, entry.id, at(NOON)));
        await rises(() =>
          store.feedback(access, { memoryId: entry.id, signal: 'useful', traceId }, at(NOON)),
        );
        await rises(() => store.forget(access, entry.id, at(NOON)));
        await rises(() => store.restore(access, entry.id, at(NOON)));
        await rises(() =>
          store.supersede(
            access,
            entry.id,
            { draft: prepared({ namespace: 'a.c', content: 'y' }) },
            at(NOON),
          ),
        );
        await rises(() => store.purge(access, entry.id, at(NOON)));
      },
    },
  ],
};
