import assert from 'node:assert/strict';
import type { GovernanceStore, MemoryPolicy, NewTrace, StoredKey } from '../core/governance.ts';
import type { ListCursor } from '../core/ports.ts';
import type { RankingProfile } from '../core/types.ts';
import type { ContractSuite } from './contract-case.ts';
import {
  at,
  DAY,
  MINUTE,
  NOON,
  operator,
  readOne,
  rejectsWith,
  sha256,
  user,
  writeOne,
} from './contract-fixtures.ts';

function uuid(number: number): string {
  return `01900000-0000-7000-8000-${String(number).padStart(12, '0')}`;
}

function keyOf(tenantId: string, userId: string, number: number): StoredKey {
  return {
    id: uuid(number),
    tenantId,
    userId,
    name: `key of ${userId}`,
    prefix: `${tenantId}-${number}`,
    secretHash: sha256(`${tenantId}-${number}`),
    scopes: ['read', 'write'],
    createdAt: new Date(NOON),
    createdBy: 'root',
    expiresAt: new Date(NOON + DAY),
    revokedAt: null,
    lastUsedAt: null,
  };
}

const POLICY: MemoryPolicy = {
  readNamespaces: ['vector.user.${user_id}.*', 'team.*'],
  writeNamespace: 'vector.agent.${user_id}.runs',
  allowedWriteNamespaces: ['team.notes'],
  allowWrite: true,
  allowToolWrite: false,
  allowToolDelete: true,
  profile: 'weighted',
  topK: 1,
  minScore: 0,
  relativeCutoff: 0,
  tokenBudget: 0,
};

const PROFILE: RankingProfile = {
  kind: 'boosted',
  name: 'strict',
  recencyDecay: 0,
  minScore: 0.6,
  relativeCutoff: 0,
  topK: 3,
};

function traceOf(number: number, userId: string, createdAt = NOON): NewTrace {
  return {
    id: uuid(number),
    userId,
    createdAt: new Date(createdAt),
    query: 'where?',
    trace: { hits: [number] },
  };
}

async function allTraces(
  governance: GovernanceStore,
  access: Parameters<GovernanceStore['listTraces']>[0],
): Promise<string[]> {
  const seen: string[] = [];
  let after: ListCursor | null = null;
  do {
    const page: Awaited<ReturnType<GovernanceStore['listTraces']>> = await governance.listTraces(access, {
      limit: 3,
      after,
    });
    seen.push(...page.items.map(({ id }) => id));
    after = page.next;
  } while (after !== null);
  return seen;
}

/** SPEC sections 3, 8 and 9: what governs a tenant, and what can be looked up afterwards. */
export const governanceContract: ContractSuite = {
  subject: 'governance',
  cases: [
    {
      name: 'a key is found by its prefix before anybody is known, and kept without its secret',
      async run({ governance, tenantId }) {
        const admin = user(tenantId, 'root', { isAdmin: true });
        const key = keyOf(tenantId, 'alice', 1);
        const { secretHash, ...shown } = key;
        assert.deepEqual(await governance.createKey(admin, key), shown);
        assert.deepEqual(await governance.findKeys(key.prefix), [key]);
        assert.deepEqual(await governance.findKeys('no such prefix'), []);
        await governance.touchKey(key, NOON + MINUTE);
        await governance.touchKey(key, NOON + MINUTE + 1000);
        const [used] = await governance.findKeys(key.prefix);
        assert.deepEqual(used?.lastUsedAt, new Date(NOON + MINUTE), 'to the minute, not at every request');
      },
    },
    {
      name: 'administrators make keys; a user sees and revokes their own alone',
      async run({ governance, tenantId }) {
        const admin = user(tenantId, 'root', { isAdmin: true });
        const alice = user(tenantId, 'alice');
        await rejectsWith('forbidden', governance.createKey(alice, keyOf(tenantId, 'alice', 1)));
        await governance.createKey(admin, keyOf(tenantId, 'alice', 1));
        await governance.createKey(admin, keyOf(tenantId, 'bob', 2));
        const usersOf = async (access: typeof admin) =>
          (await governance.listKeys(access)).map(({ userId }) => userId).sort();
        assert.deepEqual(await usersOf(admin), ['alice', 'bob']);
        assert.deepEqual(await usersOf(alice), ['alice']);
        assert.deepEqual(await usersOf(operator(`${tenantId}-other`)), []);
        await rejectsWith('not_found', governance.revokeKey(alice, uuid(2), NOON));
        await rejectsWith('not_found', governance.revokeKey(alice, 'nonsense', NOON));
        assert.deepEqual((await governance.revokeKey(alice, uuid(1), NOON)).revokedAt, new Date(NOON));
        assert.deepEqual((await governance.revokeKey(admin, uuid(1), NOON + DAY)).revokedAt, new Date(NOON));
      },
    },
    {
      name: 'a policy comes back as it was put, zeros included, and only administrators put it',
      async run({ governance, tenantId }) {
        const admin = user(tenantId, 'root', { isAdmin: true });
        const bob = user(tenantId, 'bob');
        const agent = { kind: 'agent', id: 'helper' } as const;
        const put = await governance.putPolicy(admin, agent, POLICY, NOON);
        assert.deepEqual(put, {
          ...POLICY,
          subject: agent,
          createdAt: new Date(NOON),
          updatedAt: new Date(NOON),
        });
        assert.deepEqual(await governance.findPolicy(bob, agent), put);
        assert.equal(await governance.findPolicy(bob, { kind: 'task', id: 'helper' }), null);
        const bare = { ...POLICY, writeNamespace: null, profile: null, topK: null, minScore: null };
        const changed = await governance.putPolicy(admin, agent, bare, NOON + 1);
        assert.deepEqual(
          [changed.topK, changed.minScore, changed.updatedAt],
          [null, null, new Date(NOON + 1)],
        );
        await rejectsWith('forbidden', governance.putPolicy(bob, agent, POLICY, NOON));
        await rejectsWith('forbidden', governance.deletePolicy(bob, agent, NOON));
        assert.equal((await governance.listPolicies(bob)).length, 1);
        assert.equal(await governance.deletePolicy(admin, agent, NOON), true);
        assert.equal(await governance.deletePolicy(admin, agent, NOON), false);
      },
    },
    {
      name: 'a profile comes back as it was put, and only administrators put it',
      async run({ governance, tenantId }) {
        const admin = user(tenantId, 'root', { isAdmin: true });
        const bob = user(tenantId, 'bob');
        await governance.putProfile(admin, PROFILE, NOON);
        assert.deepEqual((await governance.findProfile(bob, 'strict'))?.profile, PROFILE);
        assert.equal(await governance.findProfile(operator(`${tenantId}-other`), 'strict'), null);
        await rejectsWith('forbidden', governance.putProfile(bob, PROFILE, NOON));
        assert.equal((await governance.listProfiles(bob)).length, 1);
        assert.equal(await governance.deleteProfile(admin, 'strict', NOON), true);
        assert.equal(await governance.findProfile(bob, 'strict'), null);
      },
    },
    {
      name: 'an administrator reads a user’s private entries exactly while that user allows it',
      async run({ store, governance, tenantId }) {
        const admin = user(tenantId, 'root', { isAdmin: true });
        const alice = user(tenantId, 'alice');
        const entry = await writeOne(store, alice, { namespace: 'vector.user.alice.n', content: 'private' });
        assert.equal(await readOne(store, admin, entry.id), undefined);
        assert.deepEqual(await governance.userSettings(alice), { userId: 'alice', allowAdminMemory: false });
        await governance.setAllowAdminMemory(alice, true, NOON);
        assert.equal((await readOne(store, admin, entry.id))?.id, entry.id);
        assert.equal(await readOne(store, user(tenantId, 'bob'), entry.id), undefined);
        await rejectsWith('forbidden', store.forget(admin, entry.id, at(NOON)));
        await governance.setAllowAdminMemory(user(tenantId, 'bob'), true, NOON);
        await governance.setAllowAdminMemory(alice, false, NOON);
        assert.equal(await readOne(store, admin, entry.id), undefined);
      },
    },
    {
      name: 'the audit holds every change with its author, and administrators alone read it',
      async run({ store, governance, tenantId }) {
        const alice = user(tenantId, 'alice');
        const entry = await writeOne(store, alice, { namespace: 'vector.user.alice.n', content: 'x' });
        await store.confirm(alice, entry.id, at(NOON + 1));
        await store.update(alice, entry.id, { patch: { importance: 1 } }, at(NOON + 2));
        await store.forget(alice, entry.id, at(NOON + 3));
        await store.restore(alice, entry.id, at(NOON + 4));
        await store.purge(alice, entry.id, at(NOON + 5));
        await governance.appendAudit(alice, [
          {
            action: 'warning',
            occurredAt: NOON + 6,
            namespace: 'vector.user.bob.n',
            detail: { refused: 'read' },
          },
        ]);
        const admin = user(tenantId, 'root', { isAdmin: true });
        const { items } = await governance.listAudit(admin, { limit: 100, after: null });
        assert.deepEqual(
          items.map(({ action, operation, actorId, memoryId }) => [action, operation, actorId, memoryId]),
          [
            ['warning', null, 'alice', null],
            ['delete', 'purge', 'alice', entry.id],
            ['write', 'restore', 'alice', entry.id],
            ['delete', 'forget', 'alice', entry.id],
            ['write', 'update', 'alice', entry.id],
            ['status', null, 'alice', entry.id],
            ['write', 'create', 'alice', entry.id],
          ],
        );
        assert.deepEqual(items[5]?.detail, { from: 'unconfirmed', to: 'confirmed' });
        const narrowed = await governance.listAudit(admin, {
          actions: ['write'],
          actorId: 'alice',
          memoryId: entry.id,
          scope: ['vector.user.*'],
          from: new Date(NOON),
          until: new Date(NOON + 4),
          limit: 1,
          after: null,
        });
        assert.deepEqual(
          narrowed.items.map(({ operation }) => operation),
          ['update'],
        );
        assert.ok(narrowed.next);
        await rejectsWith(
          'forbidden',
          (async () => governance.listAudit(alice, { limit: 1, after: null }))(),
        );
        const other = user(`${tenantId}-other`, 'root', { isAdmin: true });
        assert.deepEqual((await governance.listAudit(other, { limit: 9, after: null })).items, []);
      },
    },
    {
      name: 'a user sees their own traces, an administrator all of the tenant, page by page',
      async run({ governance, tenantId }) {
        const alice = user(tenantId, 'alice');
        const numbers = [1, 2, 3, 4, 5, 6, 7];
        await governance.appendTraces(
          alice,
          numbers.map((number) => traceOf(number, 'alice')),
          [{ action: 'read', occurredAt: NOON, detail: { hit_count: 0, trace_id: uuid(1) } }],
        );
        await governance.appendTraces(alice, [traceOf(1, 'alice')], []);
        await governance.appendTraces(user(tenantId, 'bob'), [traceOf(8, 'bob')], []);
        assert.deepEqual(await allTraces(governance, alice), [7, 6, 5, 4, 3, 2, 1].map(uuid));
        assert.deepEqual(await governance.findTrace(alice, uuid(3)), {
          ...traceOf(3, 'alice'),
          isQueryHidden: false,
        });
        assert.equal(await governance.findTrace(alice, uuid(8)), null);
        assert.equal(await governance.findTrace(alice, 'nonsense'), null);
        const admin = user(tenantId, 'root', { isAdmin: true });
        assert.equal((await allTraces(governance, admin)).length, 8);
        const { items } = await governance.listTraces(admin, { userId: 'bob', limit: 9, after: null });
        assert.deepEqual(
          items.map(({ id }) => id),
          [uuid(8)],
        );
        assert.deepEqual(await allTraces(governance, operator(`${tenantId}-other`)), []);
      },
    },
    {
      name: 'retention removes what is older, of one tenant, and nothing else',
      async run({ store, governance, tenantId }) {
        const alice = user(tenantId, 'alice');
        const entry = await writeOne(store, alice, { namespace: 'vector.user.alice.n', content: 'x' });
        await governance.appendTraces(
          alice,
          [traceOf(1, 'alice', NOON - DAY), traceOf(2, 'alice', NOON)],
          [{ action: 'read', occurredAt: NOON - DAY, detail: {} }],
        );
        await governance.claimIdempotencyKey(alice, 'k', 'h', NOON - DAY);
        assert.ok((await governance.tenantIds()).includes(tenantId));
        const gone = await governance.expireRecords(tenantId, {
          audit: NOON,
          traces: NOON,
          idempotency: NOON,
        });
        assert.deepEqual(gone, { audit: 1, traces: 1, idempotency: 1 });
        const kept = await governance.expireRecords(tenantId, { audit: null, traces: null, idempotency: 0 });
        assert.deepEqual(kept, { audit: 0, traces: 0, idempotency: 0 });
        assert.ok(await readOne(store, alice, entry.id));
        assert.ok(await governance.findTrace(alice, uuid(2)));
      },
    },
    {
      name: 'a request under an idempotency key is carried out once, and its answer given again',
      async run({ governance, tenantId }) {
        const alice = user(tenantId, 'alice');
        const claims = await Promise.all(
          Array.from({ length: 10 }, () => governance.claimIdempotencyKey(alice, 'k', 'hash', NOON)),
        );
        assert.deepEqual(claims.map(({ state }) => state).sort(), [
          'new',
          ...Array.from({ length: 9 }, () => 'running'),
        ]);
        const answer = { requestHash: 'hash', status: 201, body: { id: 'x' } };
        await governance.keepAnswer(alice, 'k', answer);
        const again = await governance.claimIdempotencyKey(alice, 'k', 'hash', NOON);
        assert.deepEqual(again, { state: 'answered', answer });
        const other = await governance.claimIdempotencyKey(user(tenantId, 'bob'), 'k', 'hash', NOON);
        assert.equal(other.state, 'new', 'keys of two users are two keys');
        await governance.claimIdempotencyKey(alice, 'failed', 'hash', NOON);
        await governance.releaseIdempotencyKey(alice, 'failed');
        assert.equal((await governance.claimIdempotencyKey(alice, 'failed', 'hash', NOON)).state, 'new');
        const late = await governance.claimIdempotencyKey(alice, 'failed', 'hash', NOON + 2 * MINUTE);
        assert.equal(late.state, 'new', 'a claim whose server died lapses');
      },
    },
    {
      name: 'a namespace report counts what the asker may read',
      async run({ store, governance, tenantId }) {
        const access = operator(tenantId);
        await writeOne(store, access, { namespace: 'b.x', content: 'äx' });
        const gone = await writeOne(store, access, { namespace: 'b.x', content: 'yz' });
        await store.forget(access, gone.id, at(NOON + 1));
        await writeOne(store, access, { namespace: 'vector.user.alice.n', content: 'x' });
        const page = { scope: null, now: NOON, limit: 1, after: null };
        const [first] = await governance.reportNamespaces(access, page);
        assert.deepEqual(first, {
          path: 'b.x',
          ownerId: null,
          version: 3,
          createdAt: new Date(NOON),
          updatedAt: new Date(NOON + 1),
          liveCount: 1,
          totalCount: 2,
          contentBytes: 5,
        });
        const [second] = await governance.reportNamespaces(access, { ...page, after: 'b.x' });
        assert.equal(second?.path, 'vector.user.alice.n');
        const seen = await governance.reportNamespaces(user(tenantId, 'alice'), { ...page, limit: 9 });
        assert.deepEqual(
          seen.map(({ path }) => path),
          ['vector.user.alice.n'],
        );
      },
    },
    {
      name: 'what the asker may read is counted by the parts of its life, and nothing else',
      async run({ store, governance, tenantId }) {
        const access = operator(tenantId);
        const write = (namespace: string, content: string, more: object = {}) =>
          writeOne(store, access, { namespace, content, ...more });
        await write('b.x', 'äx', { type: 'fact' });
        await store.confirm(access, (await write('b.x', 'confirmed')).id, at(NOON));
        await store.forget(access, (await write('b.x', 'deleted')).id, at(NOON));
        await write('b.x', 'expired', { expiresAt: new Date(NOON + 1) });
        const old = await write('b.y', 'old');
        await store.supersede(access, old.id, { id: (await write('b.y', 'new')).id }, at(NOON));
        await write('vector.user.alice.n', 'hers');
        const now = NOON + MINUTE;
        assert.deepEqual(await governance.countEntries(access, { scope: ['b.*'], now }), {
          namespaceCount: 2,
          totalCount: 6,
          liveCount: 3,
          supersededCount: 1,
          expiredCount: 1,
          deletedCount: 1,
          confirmedCount: 1,
          contentBytes: 3 + 9 + 7 + 7 + 3 + 3,
          types: [
            { type: 'note', liveCount: 2 },
            { type: 'fact', liveCount: 1 },
          ],
        });
        const hers = await governance.countEntries(user(tenantId, 'alice'), { scope: null, now });
        assert.deepEqual([hers.namespaceCount, hers.totalCount, hers.contentBytes], [1, 1, 4]);
        const bobs = await governance.countEntries(user(tenantId, 'bob'), { scope: null, now });
        assert.deepEqual([bobs.namespaceCount, bobs.totalCount, bobs.types], [0, 0, []]);
      },
    },
  ],
};
