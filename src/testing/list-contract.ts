import assert from 'node:assert/strict';
import type { Lifecycle, ListCursor, ListQuery, Store } from '../core/ports.ts';
import type { Access } from '../core/types.ts';
import type { ContractSuite } from './contract-case.ts';
import { at, DAY, MINUTE, NOON, operator, prepared, writeOne } from './contract-fixtures.ts';

function listing(query: Partial<ListQuery> = {}): ListQuery {
  return { scope: null, filter: {}, lifecycle: 'live', limit: 100, after: null, now: NOON, ...query };
}

async function contentsOf(store: Store, access: Access, query: Partial<ListQuery>): Promise<string[]> {
  return (await store.list(access, listing(query))).entries.map(({ content }) => content);
}

/** Deterministic lists with cursors. */
export const listContract: ContractSuite = {
  subject: 'lists',
  cases: [
    {
      name: 'five hundred entries of one moment come once each, while others are written and deleted (CASES G1)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const batch = Array.from({ length: 500 }, (_, index) =>
          prepared({ namespace: 'a.b', content: `entry ${index}` }, null),
        );
        const written = await store.write(access, batch, at(NOON));
        const seen: string[] = [];
        let after: ListCursor | null = null;
        let page = 0;
        const deleted = new Set<string>();
        do {
          const { entries, next }: Awaited<ReturnType<Store['list']>> = await store.list(
            access,
            listing({ limit: 13, after }),
          );
          seen.push(...entries.map(({ id }) => id));
          after = next;
          page += 1;
          if (page === 3) {
            // A newer entry belongs to a page that is over; a deleted one that was not shown yet stays out.
            await writeOne(store, access, { namespace: 'a.b', content: 'newer' }, { now: NOON + MINUTE });
            const ahead = written.find(({ entry }) => !seen.includes(entry.id));
            assert.ok(ahead);
            await store.forget(access, ahead.entry.id, at(NOON));
            deleted.add(ahead.entry.id);
          }
        } while (after !== null);
        assert.equal(new Set(seen).size, seen.length, 'no entry twice');
        const expected = written.map(({ entry }) => entry.id).filter((id) => !deleted.has(id));
        assert.deepEqual([...seen].sort(), expected.sort());
      },
    },
    {
      name: 'a scope of paths alone lists those namespaces and none below or beside them',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        for (const namespace of ['a.b', 'a.b.c', 'a.bc', 'a', 'x+y', 'xy']) {
          await writeOne(store, access, { namespace, content: namespace });
        }
        const contents = async (...scope: string[]) => (await contentsOf(store, access, { scope })).sort();
        assert.deepEqual(await contents('a.b'), ['a.b']);
        assert.deepEqual(await contents('a.b', 'x+y', 'none'), ['a.b', 'x+y']);
        assert.deepEqual(await contents('a.b', 'a.b.*'), ['a.b', 'a.b.c']);
      },
    },
    {
      name: 'newest first, and a batch in the order it was written',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        await writeOne(store, access, { namespace: 'a.b', content: 'old' }, { now: NOON - DAY });
        await store.write(
          access,
          ['1', '2', '3'].map((content) => prepared({ namespace: 'a.b', content })),
          at(NOON),
        );
        assert.deepEqual(await contentsOf(store, access, {}), ['3', '2', '1', 'old']);
      },
    },
    {
      name: 'each part of an entry’s life has its list',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        await writeOne(store, access, { namespace: 'a.b', content: 'live' });
        const gone = await writeOne(store, access, { namespace: 'a.b', content: 'deleted' });
        await store.forget(access, gone.id, at(NOON));
        const old = await writeOne(store, access, { namespace: 'a.b', content: 'superseded' });
        await store.supersede(
          access,
          old.id,
          { draft: prepared({ namespace: 'a.b', content: 'newer' }) },
          at(NOON),
        );
        await writeOne(store, access, { namespace: 'a.b', content: 'expired', expiresAt: new Date(NOON) });
        const by = async (lifecycle: Lifecycle) => (await contentsOf(store, access, { lifecycle })).sort();
        assert.deepEqual(await by('live'), ['live', 'newer']);
        assert.deepEqual(await by('deleted'), ['deleted']);
        assert.deepEqual(await by('superseded'), ['superseded']);
        assert.deepEqual(await by('expired'), ['expired']);
        assert.deepEqual(await by('any'), ['deleted', 'expired', 'live', 'newer', 'superseded']);
      },
    },
    {
      name: 'scopes, filters and words narrow a list; wildcards of SQL are plain characters',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        await writeOne(store, access, { namespace: 'a.b', content: 'Die ÄPFEL sind reif', type: 'fact' });
        await writeOne(store, access, { namespace: 'a.b.c', content: '100% sure_thing back\\slash' });
        await writeOne(store, access, { namespace: 'x', content: 'other' });
        assert.deepEqual(await contentsOf(store, access, { scope: ['a.b'] }), ['Die ÄPFEL sind reif']);
        assert.equal((await contentsOf(store, access, { scope: ['a.*'] })).length, 2);
        assert.deepEqual(await contentsOf(store, access, { scope: ['nowhere.*'] }), []);
        assert.deepEqual(await contentsOf(store, access, { filter: { types: ['fact'] } }), [
          'Die ÄPFEL sind reif',
        ]);
        assert.equal((await contentsOf(store, access, { text: 'reif äpfel' })).length, 1);
        assert.equal((await contentsOf(store, access, { text: '100%' })).length, 1);
        assert.equal((await contentsOf(store, access, { text: 'back\\slash' })).length, 1);
        assert.equal((await contentsOf(store, access, { text: '%' })).length, 1);
        assert.equal((await contentsOf(store, access, { text: '_' })).length, 1);
        assert.equal((await contentsOf(store, access, { text: ' ' })).length, 3);
      },
    },
  ],
};
