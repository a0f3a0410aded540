import assert from 'node:assert/strict';
import type { Store } from '../core/ports.ts';
import type { Access, MemoryEntry } from '../core/types.ts';
import type { ContractContext, ContractSuite } from './contract-case.ts';
import {
  at,
  candidatesOf,
  NOON,
  operator,
  prepared,
  readOne,
  rejectsWith,
  user,
  writeOne,
} from './contract-fixtures.ts';

/** Every namespace of the cases below, and an entry in each. */
const PATHS = [
  'vector.user.alice.notes',
  'vector.agent.alice.howto',
  'vector.user.alice-2.notes',
  'vector.user.bob.notes',
  'vector.global.facts',
  'team.a',
  'team.ab',
  'team.a_b.deep',
  'team.a-b.deep',
] as const;

async function fill({ store, tenantId }: ContractContext): Promise<Map<string, MemoryEntry>> {
  const entries = new Map<string, MemoryEntry>();
  for (const namespace of PATHS) {
    entries.set(
      namespace,
      await writeOne(store, operator(tenantId), { namespace, content: `in ${namespace}` }),
    );
  }
  return entries;
}

async function readable(store: Store, access: Access, entries: Map<string, MemoryEntry>): Promise<string[]> {
  const ids = [...entries.values()].map(({ id }) => id);
  const byId = await store.read(access, (view) => view.entries(ids));
  const byList = await store.list(access, {
    scope: null,
    filter: {},
    lifecycle: 'any',
    limit: 100,
    after: null,
    now: NOON,
  });
  // Even when the service names foreign namespaces, the database gives nothing of them.
  const bySearch = await candidatesOf(store, access, { namespaces: PATHS });
  const byNamespace = await store.read(access, (view) => view.namespaces(null));
  const paths = byId.map(({ namespace }) => namespace).sort();
  assert.deepEqual(byList.entries.map(({ namespace }) => namespace).sort(), paths);
  assert.deepEqual(bySearch.map(({ namespace }) => namespace).sort(), paths);
  assert.deepEqual(byNamespace.map(({ path }) => path).sort(), paths);
  return paths;
}

/** SPEC section 3: who may read and write what, enforced by the database on every way to a row. */
export const accessContract: ContractSuite = {
  subject: 'access',
  cases: [
    {
      name: 'a user reads what is theirs and the global namespaces, by id, list, search and namespace',
      async run(context) {
        const { store, tenantId } = context;
        const entries = await fill(context);
        assert.deepEqual(await readable(store, user(tenantId, 'alice'), entries), [
          'vector.agent.alice.howto',
          'vector.global.facts',
          'vector.user.alice.notes',
        ]);
        assert.deepEqual(await readable(store, user(tenantId, 'nobody'), entries), ['vector.global.facts']);
        assert.deepEqual(await readable(store, operator(tenantId), entries), [...PATHS].sort());
      },
    },
    {
      name: 'a policy opens the tenant’s namespaces by whole segments, and never another user’s (CASES A1, A3)',
      async run(context) {
        const { store, tenantId } = context;
        const entries = await fill(context);
        const granted = (...read: string[]) => readable(store, user(tenantId, 'bob', { read }), entries);
        const own = ['vector.global.facts', 'vector.user.bob.notes'];
        assert.deepEqual(await granted('team.a'), ['team.a', ...own]);
        assert.deepEqual(await granted('team.a_b.*'), ['team.a_b.deep', ...own]);
        assert.deepEqual(await granted('team.a.*'), own);
        assert.deepEqual(await granted('*', 'vector.user.alice.*'), [
          'team.a',
          'team.a-b.deep',
          'team.a_b.deep',
          'team.ab',
          ...own,
        ]);
      },
    },
    {
      name: 'a user writes to what is theirs, and elsewhere only where a policy allows it',
      async run(context) {
        const { store, tenantId } = context;
        await fill(context);
        const writes = (access: Access, namespace: string) =>
          store.write(access, [prepared({ namespace, content: 'new' })], at(NOON));
        const bob = user(tenantId, 'bob', { read: ['team.*'] });
        assert.equal((await writes(bob, 'vector.user.bob.new')).length, 1);
        assert.equal((await writes(bob, 'vector.agent.bob')).length, 1);
        for (const namespace of [
          'vector.global.facts',
          'vector.user.alice.notes',
          'team.a',
          'vector.user',
          'new',
        ]) {
          await rejectsWith('forbidden', writes(bob, namespace));
        }
        const editor = user(tenantId, 'bob', { write: ['vector.global.*', 'team.a', 'vector.user.alice.*'] });
        assert.equal((await writes(editor, 'vector.global.facts')).length, 1);
        assert.equal((await writes(editor, 'team.a')).length, 1);
        await rejectsWith('forbidden', writes(editor, 'team.ab'));
        await rejectsWith('forbidden', writes(editor, 'vector.user.alice.notes'));
      },
    },
    {
      name: 'what may be read but not written is refused by name, what may not be read is unknown',
      async run(context) {
        const { store, tenantId } = context;
        const entries = await fill(context);
        const idOf = (path: string) => entries.get(path)?.id ?? '';
        const bob = user(tenantId, 'bob', { read: ['team.a'] });
        const operations = (id: string): [string, () => Promise<unknown>][] => [
          ['update', () => store.update(bob, id, { patch: { importance: 1 } }, at(NOON))],
          ['confirm', () => store.confirm(bob, id, at(NOON))],
          ['unconfirm', () => store.unconfirm(bob, id, at(NOON))],
          ['forget', () => store.forget(bob, id, at(NOON))],
          ['restore', () => store.restore(bob, id, at(NOON))],
          ['purge', () => store.purge(bob, id, at(NOON))],
          [
            'supersede',
            () =>
              store.supersede(
                bob,
                id,
                { draft: prepared({ namespace: 'vector.user.bob.n', content: 'y' }) },
                at(NOON),
              ),
          ],
        ];
        for (const path of ['team.a', 'vector.global.facts']) {
          for (const [, operation] of operations(idOf(path))) await rejectsWith('forbidden', operation());
        }
        for (const path of ['vector.user.alice.notes', 'team.ab', 'vector.user.alice-2.notes']) {
          for (const [, operation] of operations(idOf(path))) await rejectsWith('not_found', operation());
          await rejectsWith('not_found', store.history(bob, idOf(path)));
        }
        for (const [path, entry] of entries) {
          assert.deepEqual(await readOne(store, operator(tenantId), entry.id), entry, `${path} is untouched`);
        }
      },
    },
    {
      name: 'a user can’t supersede an entry by a foreign one',
      async run(context) {
        const { store, tenantId } = context;
        const entries = await fill(context);
        const bob = user(tenantId, 'bob');
        const own = entries.get('vector.user.bob.notes')?.id ?? '';
        const foreign = entries.get('vector.user.alice.notes')?.id ?? '';
        await rejectsWith('not_found', store.supersede(bob, own, { id: foreign }, at(NOON)));
      },
    },
    {
      name: 'an administrator reads private namespaces only of users who allow it, which nobody has',
      async run(context) {
        const { store, tenantId } = context;
        const entries = await fill(context);
        assert.deepEqual(await readable(store, user(tenantId, 'root', { isAdmin: true }), entries), [
          'vector.global.facts',
        ]);
      },
    },
    {
      name: 'nothing crosses a tenant, not even for its operator',
      async run(context) {
        const { store, tenantId } = context;
        const entries = await fill(context);
        const stranger = operator(`${tenantId}-other`);
        assert.deepEqual(await readable(store, stranger, entries), []);
        const [entry] = [...entries.values()];
        assert.ok(entry);
        await rejectsWith('not_found', store.purge(stranger, entry.id, at(NOON)));
        await rejectsWith(
          'not_found',
          store.feedback(
            stranger,
            { memoryId: entry.id, signal: 'useful', traceId: '01900000-0000-7000-8000-000000000001' },
            at(NOON),
          ),
        );
        assert.deepEqual(await store.listRules(stranger), []);
      },
    },
    {
      name: 'rules are kept by administrators and read by all of the tenant',
      async run({ store, tenantId }) {
        const admin = user(tenantId, 'root', { isAdmin: true });
        const rule = { pattern: 'vector.agent.${user_id}.howto', bonus: 0, description: 'd' };
        const created = await store.putRule(admin, rule, at(NOON));
        assert.deepEqual(created, {
          pattern: 'vector.agent.${user_id}.howto',
          bonus: 0,
          description: 'd',
          instructionTemplate: null,
          createdAt: new Date(NOON),
          updatedAt: new Date(NOON),
        });
        const changed = await store.putRule(
          admin,
          { pattern: rule.pattern, bonus: 1, instructionTemplate: 'Follow: {{content}}' },
          at(NOON + 1),
        );
        assert.deepEqual(
          [
            changed.bonus,
            changed.description,
            changed.instructionTemplate,
            changed.createdAt,
            changed.updatedAt,
          ],
          [1, null, 'Follow: {{content}}', new Date(NOON), new Date(NOON + 1)],
        );
        const bob = user(tenantId, 'bob');
        assert.deepEqual(await store.listRules(bob), [changed]);
        await rejectsWith('forbidden', store.putRule(bob, rule, at(NOON)));
        await rejectsWith('forbidden', store.deleteRule(bob, rule.pattern, at(NOON)));
        assert.equal(await store.deleteRule(admin, 'no.such', at(NOON)), false);
        assert.equal(await store.deleteRule(admin, rule.pattern, at(NOON)), true);
        assert.deepEqual(await store.listRules(bob), []);
      },
    },
    {
      name: 'a model keeps its dimensions',
      async run({ store, tenantId }) {
        await store.registerModel(tenantId, { modelId: 'm', dimensions: 3 });
        await store.registerModel(tenantId, { modelId: 'm', dimensions: 3 });
        await rejectsWith('conflict', store.registerModel(tenantId, { modelId: 'm', dimensions: 4 }));
      },
    },
    {
      name: 'requests run under a role that can’t bypass row-level security',
      async run({ store }) {
        const health = await store.health();
        assert.equal(health.role, 'palimpsest_app');
        assert.equal(health.roleBypassesRls, false);
        assert.ok(health.schemaVersion >= 1);
        assert.ok(health.vectorVersion !== null);
      },
    },
  ],
};
