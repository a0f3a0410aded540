import assert from 'node:assert/strict';
import type { Store } from '../core/ports.ts';
import type { Access, MemoryPatch } from '../core/types.ts';
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
  TEST_MODEL,
  writeOne,
} from './contract-fixtures.ts';

const UNKNOWN_ID = '01900000-0000-7000-8000-00000000dead';

function patchContent(content: string, vector: readonly number[] | null = [0, 1, 0, 0]) {
  return {
    patch: { content },
    contentHash: sha256(content),
    embeddings: [{ modelId: TEST_MODEL.modelId, vector: vector === null ? null : Float32Array.from(vector) }],
  };
}

function patch(store: Store, access: Access, id: string, fields: MemoryPatch, now = NOON) {
  return store.update(access, id, { patch: fields }, at(now));
}

/** SPEC sections 1 and 2: update, confirm, supersede, forget, restore, purge, expiry. */
export const lifecycleContract: ContractSuite = {
  subject: 'life of an entry',
  cases: [
    {
      name: 'changing the content re-embeds, ages and takes the confirmation away (CASES D9)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, {
          namespace: 'a.b',
          content: 'red',
          metadata: { k: 1 },
          tags: ['t'],
        });
        await store.confirm(access, entry.id, at(NOON));
        const updated = await store.update(access, entry.id, patchContent('blue'), at(NOON + DAY));
        assert.equal(updated.content, 'blue');
        assert.equal(updated.contentHash, sha256('blue'));
        assert.equal(updated.status, 'unconfirmed');
        assert.deepEqual([updated.confirmedAt, updated.confirmedBy], [null, null]);
        assert.deepEqual([updated.createdAt, updated.updatedAt], [new Date(NOON), new Date(NOON + DAY)]);
        assert.deepEqual([updated.metadata, updated.tags], [{ k: 1 }, ['t']]);
        const [candidate] = await candidatesOf(store, access, { namespaces: ['a.b'] });
        assert.equal(candidate?.similarity, 0, 'the vector of "red" is gone');
        await store.update(access, entry.id, patchContent('…', null), at(NOON + DAY));
        const [bare] = await candidatesOf(store, access, {
          namespaces: ['a.b'],
          query: { modelId: TEST_MODEL.modelId, vector: Float32Array.of(0, 1, 0, 0) },
        });
        assert.equal(bare?.similarity, 0, 'a text without a token has no vector left');
      },
    },
    {
      name: 'changing anything else keeps the confirmation and the age, and touches nothing more',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, {
          namespace: 'a.b',
          content: 'x',
          metadata: { a: 1 },
          tags: ['t'],
        });
        const confirmed = await store.confirm(access, entry.id, at(NOON + MINUTE));
        const changed = await patch(
          store,
          access,
          entry.id,
          { metadata: { b: 0 }, importance: 0, expiresAt: new Date(NOON + DAY) },
          NOON + 2 * MINUTE,
        );
        assert.deepEqual(changed, {
          ...confirmed,
          metadata: { b: 0 },
          importance: 0,
          expiresAt: new Date(NOON + DAY),
          version: changed.version,
        });
        const cleared = await patch(store, access, entry.id, { expiresAt: null, tags: [] });
        assert.deepEqual([cleared.expiresAt, cleared.tags], [null, []]);
        const same = await store.update(access, entry.id, patchContent('x'), at(NOON + DAY));
        assert.equal(same.status, 'confirmed', 'the same text is no change of the text');
        assert.deepEqual(same.updatedAt, new Date(NOON));
      },
    },
    {
      name: 'identity in metadata stays metadata (CASES A5)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, { namespace: 'vector.user.alice.n', content: 'x' });
        const forged = {
          user_id: 'bob',
          owner_id: 'bob',
          tenant_id: 'other',
          namespace: 'vector.user.bob.n',
        };
        const updated = await patch(store, access, entry.id, { metadata: forged });
        assert.deepEqual(
          [updated.ownerId, updated.tenantId, updated.namespace, updated.metadata],
          ['alice', tenantId, 'vector.user.alice.n', forged],
        );
      },
    },
    {
      name: 'content that another live entry of the namespace holds is a conflict that names it',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const one = await writeOne(store, access, { namespace: 'a.b', content: 'one' });
        const two = await writeOne(store, access, { namespace: 'a.b', content: 'two' });
        await assert.rejects(store.update(access, two.id, patchContent('one'), at(NOON)), new RegExp(one.id));
        assert.equal((await readOne(store, access, two.id))?.content, 'two');
        await store.forget(access, one.id, at(NOON));
        await store.update(access, two.id, patchContent('one'), at(NOON));
        await rejectsWith('conflict', store.restore(access, one.id, at(NOON)));
      },
    },
    {
      name: 'an update can demand the version that was read',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        const change = { patch: { importance: 1 } };
        const updated = await store.update(access, entry.id, change, at(NOON), { ifVersion: entry.version });
        assert.equal(updated.importance, 1);
        await rejectsWith(
          'precondition_failed',
          store.update(access, entry.id, change, at(NOON), { ifVersion: entry.version }),
        );
      },
    },
    {
      name: 'unknown and malformed ids are not found, and nothing is created (CASES F18)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        for (const id of [UNKNOWN_ID, 'nonsense', '', "' OR 1=1 --"]) {
          await rejectsWith('not_found', patch(store, access, id, { importance: 1 }));
          await rejectsWith('not_found', store.confirm(access, id, at(NOON)));
          await rejectsWith('not_found', store.forget(access, id, at(NOON)));
          await rejectsWith('not_found', store.restore(access, id, at(NOON)));
          await rejectsWith('not_found', store.purge(access, id, at(NOON)));
          await rejectsWith('not_found', store.history(access, id));
          await rejectsWith(
            'not_found',
            store.supersede(access, id, { draft: prepared({ namespace: 'a.b', content: 'x' }) }, at(NOON)),
          );
        }
        assert.deepEqual(await store.read(access, (view) => view.namespaces(null)), []);
      },
    },
    {
      name: 'confirming says when and by whom, once; unconfirming takes it back',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        await store.confirm(access, entry.id, at(NOON));
        const again = await store.confirm(access, entry.id, at(NOON + DAY));
        assert.deepEqual(
          [again.status, again.confirmedAt, again.confirmedBy],
          ['confirmed', new Date(NOON), 'local'],
        );
        assert.deepEqual(again.updatedAt, entry.updatedAt);
        const back = await store.unconfirm(access, entry.id, at(NOON + DAY));
        assert.deepEqual([back.status, back.confirmedAt, back.confirmedBy], ['unconfirmed', null, null]);
      },
    },
    {
      name: 'a superseded entry leaves the search, not the database (CASES F7)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const old = await writeOne(store, access, { namespace: 'a.b', content: 'lives in Bonn' });
        const { superseded, successor } = await store.supersede(
          access,
          old.id,
          { draft: prepared({ namespace: 'a.b', content: 'lives in Berlin' }) },
          at(NOON + MINUTE),
        );
        assert.deepEqual(
          [superseded.status, superseded.supersededBy, superseded.supersededAt],
          ['superseded', successor.id, new Date(NOON + MINUTE)],
        );
        const found = await candidatesOf(store, access, { namespaces: ['a.b'] });
        assert.deepEqual(
          found.map(({ id }) => id),
          [successor.id],
        );
        assert.equal((await readOne(store, access, old.id))?.content, 'lives in Bonn');
        const revived = await writeOne(store, access, { namespace: 'a.b', content: 'lives in Bonn' });
        assert.notEqual(revived.id, old.id, 'a superseded entry is never revived by a write');
      },
    },
    {
      name: 'a chain reads the same from each of its entries, and never becomes a circle',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const one = await writeOne(store, access, { namespace: 'a.b', content: '1' });
        const next = async (id: string, content: string) =>
          (await store.supersede(access, id, { draft: prepared({ namespace: 'a.b', content }) }, at(NOON)))
            .successor;
        const two = await next(one.id, '2');
        const three = await next(two.id, '3');
        for (const { id } of [one, two, three]) {
          const { entries, missing } = await store.history(access, id);
          assert.deepEqual([entries.map(({ content }) => content), missing], [['1', '2', '3'], []]);
        }
        await rejectsWith('conflict', store.supersede(access, three.id, { id: one.id }, at(NOON)));
        await rejectsWith('conflict', store.supersede(access, three.id, { id: three.id }, at(NOON)));
        await rejectsWith('conflict', next(three.id, '3'));
        await rejectsWith('conflict', next(one.id, '4'));
        await store.forget(access, three.id, at(NOON));
        assert.deepEqual(
          await candidatesOf(store, access, { namespaces: ['a.b'] }),
          [],
          'deleting the newest revives nothing',
        );
        await store.purge(access, three.id, at(NOON));
        assert.deepEqual(await candidatesOf(store, access, { namespaces: ['a.b'] }), []);
        const left = await store.history(access, one.id);
        assert.deepEqual(
          [left.entries.map(({ content }) => content), left.missing],
          [['1', '2'], [three.id]],
        );
      },
    },
    {
      name: 'an entry can be superseded by one that exists, also from another namespace',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const old = await writeOne(store, access, { namespace: 'z.old', content: '1' });
        const newer = await writeOne(store, access, { namespace: 'a.new', content: '2' });
        const { successor } = await store.supersede(access, old.id, { id: newer.id }, at(NOON));
        assert.equal(successor.id, newer.id);
        const other = await writeOne(store, access, { namespace: 'z.old', content: '3' });
        await store.forget(access, newer.id, at(NOON));
        await rejectsWith('conflict', store.supersede(access, other.id, { id: newer.id }, at(NOON)));
      },
    },
    {
      name: 'two entries that supersede each other at the same moment: one wins, no circle',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const a = await writeOne(store, access, { namespace: 'a.b', content: 'a' });
        const b = await writeOne(store, access, { namespace: 'a.b', content: 'b' });
        const outcomes = await Promise.allSettled([
          store.supersede(access, a.id, { id: b.id }, at(NOON)),
          store.supersede(access, b.id, { id: a.id }, at(NOON)),
        ]);
        assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
        assert.equal((await candidatesOf(store, access, { namespaces: ['a.b'] })).length, 1);
      },
    },
    {
      name: 'a failed supersession leaves no half of it',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const old = await writeOne(store, access, { namespace: 'a.b', content: '1' });
        await store.forget(access, old.id, at(NOON));
        await rejectsWith(
          'conflict',
          store.supersede(access, old.id, { draft: prepared({ namespace: 'a.b', content: '2' }) }, at(NOON)),
        );
        assert.deepEqual(await candidatesOf(store, access, { namespaces: ['a.b'] }), []);
      },
    },
    {
      name: 'a forgotten entry is gone from every search at once, readable by id, and can be restored (CASES F5)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        await store.confirm(access, entry.id, at(NOON));
        const deleted = await store.forget(access, entry.id, at(NOON + MINUTE));
        assert.deepEqual(deleted.deletedAt, new Date(NOON + MINUTE));
        assert.deepEqual(await candidatesOf(store, access, { namespaces: ['a.b'] }), []);
        assert.deepEqual((await readOne(store, access, entry.id))?.deletedAt, new Date(NOON + MINUTE));
        assert.deepEqual(
          (await store.forget(access, entry.id, at(NOON + DAY))).deletedAt,
          new Date(NOON + MINUTE),
        );
        await rejectsWith('conflict', patch(store, access, entry.id, { importance: 1 }));
        const restored = await store.restore(access, entry.id, at(NOON + DAY));
        assert.deepEqual(
          [restored.deletedAt, restored.status, restored.updatedAt],
          [null, 'confirmed', new Date(NOON)],
        );
        assert.equal((await candidatesOf(store, access, { namespaces: ['a.b'] })).length, 1);
        assert.equal((await store.restore(access, entry.id, at(NOON))).deletedAt, null);
      },
    },
    {
      name: 'a deleted entry is never revived by a write',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const old = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        await store.forget(access, old.id, at(NOON));
        const fresh = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        assert.notEqual(fresh.id, old.id);
        assert.notEqual((await readOne(store, access, old.id))?.deletedAt, null);
      },
    },
    {
      name: 'a purged entry is gone with its vectors and feedback',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        const traceId = '01900000-0000-7000-8000-000000000001';
        await store.feedback(access, { memoryId: entry.id, signal: 'wrong', traceId }, at(NOON));
        await store.purge(access, entry.id, at(NOON));
        assert.equal(await readOne(store, access, entry.id), undefined);
        assert.deepEqual(await candidatesOf(store, access, { namespaces: ['a.b'] }), []);
        await rejectsWith('not_found', store.purge(access, entry.id, at(NOON)));
      },
    },
    {
      name: 'an expired entry is not found, readable by id, and can be extended (CASES F9)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, {
          namespace: 'a.b',
          content: 'x',
          expiresAt: new Date(NOON + MINUTE),
        });
        const found = async (now: number) =>
          (await candidatesOf(store, access, { namespaces: ['a.b'], now })).length;
        assert.equal(await found(NOON + MINUTE - 1), 1);
        assert.equal(await found(NOON + MINUTE), 0, 'it ends at the moment it names');
        assert.ok(await readOne(store, access, entry.id));
        await patch(store, access, entry.id, { expiresAt: new Date(NOON + 2 * DAY) }, NOON + DAY);
        assert.equal(await found(NOON + DAY), 1);
      },
    },
  ],
};
