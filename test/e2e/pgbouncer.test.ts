import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { obtainPgBouncer, type PgBouncer, startPgBouncer } from '../../scripts/postgres/pgbouncer.ts';
import type { EmbeddingStore } from '../../src/core/embedding-store.ts';
import type { GovernanceStore } from '../../src/core/governance.ts';
import type { Store } from '../../src/core/ports.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { enterAccess } from '../../src/store/queries/access.ts';
import { at, NOON, prepared, user } from '../../src/testing/contract-fixtures.ts';
import { storeContract, TEST_MODEL } from '../../src/testing/index.ts';
import { describeOrSkip } from '../helpers/skip.ts';
import { createDatabase, DATABASE_URL } from '../helpers/test-database.ts';

const reason = DATABASE_URL === undefined ? 'DATABASE_URL is not set' : obtainPgBouncer();

/**
 * A pooler in transaction mode gives each transaction any connection: whatever a request left on one would reach
 * somebody else. With one connection for all (CASES A10) it would reach the very next.
 */
describeOrSkip(reason, 'behind PgBouncer in transaction mode, with one connection to the server', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let bouncer: PgBouncer;
  let store: Store;
  let governance: GovernanceStore;
  let embeddings: EmbeddingStore;

  beforeAll(async () => {
    database = await createDatabase();
    bouncer = await startPgBouncer(database.url, 1);
    ({ store, governance, embeddings } = await openStore({ databaseUrl: bouncer.url }));
  });
  afterAll(async () => {
    await store.close();
    await bouncer.stop();
    await database.drop();
  });

  it('B sees only B after a request of A that failed in the middle', async () => {
    const tenantId = `tenant-${randomUUID()}`;
    const alice = user(tenantId, 'alice');
    const bob = user(tenantId, 'bob');
    await store.registerModel(tenantId, TEST_MODEL);
    await store.write(alice, [prepared({ namespace: 'vector.user.alice.n', content: 'secret' })], at(NOON));
    const direct = openPostgres({ connectionString: bouncer.url });
    const failing = direct.transaction(async (tx) => {
      await tx.query(enterAccess(alice, { role: 'palimpsest_app', mayWrite: true }));
      await tx.query({ text: 'SELECT count(*) FROM app.memories', values: [] });
      throw new Error('the request breaks off');
    });
    await expect(failing).rejects.toThrow('breaks off');
    const bare = await direct.transaction((tx) =>
      tx.query({
        text: `SELECT nullif(current_setting('palimpsest.user_id', true), '') AS who, current_setting('role') AS role`,
        values: [],
      }),
    );
    expect(bare).toEqual([{ who: null, role: 'none' }]);
    await direct.close();
    const page = await store.list(bob, {
      scope: null,
      filter: {},
      lifecycle: 'any',
      limit: 10,
      after: null,
      now: NOON,
    });
    expect(page.entries).toEqual([]);
  });

  it('many requests of two users at once each see their own', async () => {
    const tenantId = `tenant-${randomUUID()}`;
    await store.registerModel(tenantId, TEST_MODEL);
    const users = ['alice', 'bob'].map((id) => user(tenantId, id));
    await Promise.all(
      users.map((access) => {
        const namespace = `vector.user.${access.principal.userId}.n`;
        return store.write(access, [prepared({ namespace, content: access.principal.userId })], at(NOON));
      }),
    );
    const pages = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const access = users[index % 2] ?? user(tenantId, 'nobody');
        const query = {
          scope: null,
          filter: {},
          lifecycle: 'any',
          limit: 10,
          after: null,
          now: NOON,
        } as const;
        const { entries } = await store.list(access, query);
        return [access.principal.userId, ...entries.map(({ content }) => content)];
      }),
    );
    for (const [asker, ...contents] of pages) expect(contents).toEqual([asker]);
  });

  for (const suite of storeContract) {
    for (const contractCase of suite.cases) {
      it(`${suite.subject}: ${contractCase.name}`, async () => {
        const tenantId = `tenant-${randomUUID()}`;
        await store.registerModel(tenantId, TEST_MODEL);
        await contractCase.run({ store, governance, embeddings, tenantId });
      });
    }
  }
});
