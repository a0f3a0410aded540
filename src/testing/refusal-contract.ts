import assert from 'node:assert/strict';
import type { NewRefusal, StoredPolicy } from '../core/governance.ts';
import type { PolicyAccess } from '../core/policy.ts';
import type { ContractSuite } from './contract-case.ts';
import { at, NOON, operator, prepared, readOne, rejectsWith, user, writeOne } from './contract-fixtures.ts';

const TRACE = '01900000-0000-7000-8000-000000000042';
const UNKNOWN = '01900000-0000-7000-8000-000000000043';

/** An agent of Bob's that reads what its policy names. */
function underPolicy(tenantId: string, seen: (policies: readonly StoredPolicy[]) => void): PolicyAccess {
  const { principal } = user(tenantId, 'bob');
  return {
    principal,
    subjects: [{ kind: 'agent', id: 'a' }],
    accessUnder(policies) {
      seen(policies);
      const readGrants = policies.flatMap(({ readNamespaces }) => readNamespaces);
      return { principal, readGrants, writeGrants: readGrants };
    },
  };
}

/** SPEC sections 8 and 9: policies rule the transaction they are read in, and what is refused is written down. */
export const refusalContract: ContractSuite = {
  subject: 'policies and refusals',
  cases: [
    {
      name: 'a policy is read in the transaction of the work itself, which sees what the policy opens',
      async run({ store, governance, tenantId }) {
        const admin = user(tenantId, 'root', { isAdmin: true });
        const entry = await writeOne(store, operator(tenantId), { namespace: 'team.a', content: 'x' });
        const read: number[] = [];
        const asking = underPolicy(tenantId, (policies) => read.push(policies.length));
        assert.equal(await readOne(store, user(tenantId, 'bob'), entry.id), undefined);
        assert.equal((await store.read(asking, (view) => view.entries([entry.id]))).length, 0);
        const policy = {
          readNamespaces: ['team.*'],
          writeNamespace: null,
          allowedWriteNamespaces: [],
          allowWrite: false,
          allowToolWrite: false,
          allowToolDelete: false,
          profile: null,
          topK: null,
          minScore: null,
          relativeCutoff: null,
          tokenBudget: null,
        };
        await governance.putPolicy(admin, { kind: 'agent', id: 'a' }, policy, NOON);
        assert.equal((await store.read(asking, (view) => view.entries([entry.id]))).length, 1);
        const drafts = () => [prepared({ namespace: 'team.b', content: 'y' })];
        assert.equal((await store.write(asking, drafts, at(NOON))).length, 1);
        assert.equal((await store.history(asking, entry.id)).entries.length, 1);
        assert.deepEqual(read, [0, 1, 1, 1]);
        assert.equal(
          await readOne(store, user(tenantId, 'bob'), entry.id),
          undefined,
          'and nothing stays open',
        );
      },
    },
    {
      name: 'a policy that refuses undoes the transaction',
      async run({ store, tenantId }) {
        const { principal } = user(tenantId, 'bob');
        const refusing: PolicyAccess = {
          principal,
          subjects: [{ kind: 'agent', id: 'a' }],
          accessUnder() {
            throw new Error('not for this agent');
          },
        };
        const draft = prepared({ namespace: 'vector.user.bob.n', content: 'x' });
        await assert.rejects(store.write(refusing, [draft], at(NOON)), /not for this agent/);
        const { entries } = await store.list(user(tenantId, 'bob'), {
          scope: null,
          filter: {},
          lifecycle: 'any',
          limit: 9,
          after: null,
          now: NOON,
        });
        assert.deepEqual(entries, []);
      },
    },
    {
      name: 'a refusal says where the entry is, or that there is none in the tenant, and is no refusal with consent',
      async run({ store, governance, tenantId }) {
        const bob = user(tenantId, 'bob');
        const admin = user(tenantId, 'root', { isAdmin: true });
        const alice = user(tenantId, 'alice');
        const { id } = await writeOne(store, alice, { namespace: 'vector.user.alice.n', content: 'x' });
        const refusal = (more: Partial<NewRefusal>): NewRefusal => {
          return { occurredAt: NOON, operation: 'get', detail: { reason: 'not_found' }, ...more };
        };
        await governance.appendRefusals(bob, [refusal({ memoryId: id })]);
        await governance.appendRefusals(bob, [refusal({ memoryId: UNKNOWN })]);
        await governance.appendRefusals(bob, [refusal({ traceId: TRACE })]);
        await governance.appendRefusals(bob, [refusal({ namespace: 'team.*' })]);
        const scope = refusal({ namespace: 'vector.user.alice.*', unlessConsentOf: 'alice' });
        await governance.appendRefusals(admin, [scope]);
        await governance.setAllowAdminMemory(alice, true, NOON);
        await governance.appendRefusals(admin, [scope]);
        const { items } = await governance.listAudit(admin, { actions: ['warning'], limit: 9, after: null });
        const shown = items.map(({ actorId, namespace, memoryId, detail }) => {
          return JSON.stringify([actorId, namespace, memoryId, detail.is_known ?? null]);
        });
        assert.deepEqual(
          shown.sort(),
          [
            JSON.stringify(['bob', null, UNKNOWN, false]),
            JSON.stringify(['bob', null, null, false]),
            JSON.stringify(['bob', 'team.*', null, null]),
            JSON.stringify(['bob', 'vector.user.alice.n', id, true]),
            JSON.stringify(['root', 'vector.user.alice.*', null, null]),
          ].sort(),
        );
      },
    },
    {
      name: 'feedback under somebody else’s trace is refused; signals are counted for whoever may read the entry',
      async run({ store, governance, tenantId }) {
        const [alice, bob] = [user(tenantId, 'alice'), user(tenantId, 'bob')];
        const entry = await writeOne(store, operator(tenantId), {
          namespace: 'vector.global.f',
          content: 'x',
        });
        const trace = { id: TRACE, userId: 'alice', createdAt: new Date(NOON), query: 'q', trace: {} };
        await governance.appendTraces(alice, [trace], []);
        const signal = { memoryId: entry.id, signal: 'useful', traceId: TRACE } as const;
        await rejectsWith('not_found', store.feedback(bob, signal, at(NOON)));
        assert.equal((await store.feedback(alice, signal, at(NOON))).recorded, true);
        await store.feedback(bob, { ...signal, signal: 'wrong', traceId: UNKNOWN }, at(NOON));
        const counts = { accessed: 0, useful: 1, not_useful: 0, wrong: 1 };
        assert.deepEqual(await governance.countFeedback(bob, entry.id), counts);
        const hers = await writeOne(store, alice, { namespace: 'vector.user.alice.n', content: 'x' });
        await rejectsWith('not_found', governance.countFeedback(bob, hers.id));
      },
    },
    {
      name: 'an administrator sees what others asked only with their consent',
      async run({ governance, tenantId }) {
        const alice = user(tenantId, 'alice');
        const admin = user(tenantId, 'root', { isAdmin: true });
        const trace = {
          id: TRACE,
          userId: 'alice',
          createdAt: new Date(NOON),
          query: 'q',
          trace: { hits: [] },
        };
        await governance.appendTraces(alice, [trace], []);
        assert.deepEqual(await governance.findTrace(alice, TRACE), { ...trace, isQueryHidden: false });
        assert.deepEqual(await governance.findTrace(admin, TRACE), {
          ...trace,
          query: null,
          isQueryHidden: true,
        });
        await governance.setAllowAdminMemory(alice, true, NOON);
        const { items } = await governance.listTraces(admin, { limit: 9, after: null });
        assert.deepEqual(items, [{ ...trace, isQueryHidden: false }]);
      },
    },
  ],
};
