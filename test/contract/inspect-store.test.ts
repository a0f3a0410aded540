import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PalimpsestError } from '../../src/core/errors.ts';
import { inspectDatabase, inspectStore, readFacts } from '../../src/store/inspect-store.ts';
import { MIGRATIONS_DIRECTORY, readMigrations } from '../../src/store/migrate.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { SqlDatabase, SqlTransaction } from '../../src/store/sql-database.ts';
import { describeOrSkip } from '../helpers/skip.ts';
import { BACKEND, createDatabase } from '../helpers/test-database.ts';
import { openTestSqlDatabase, runScript, type TestSqlDatabase } from '../helpers/test-sql-database.ts';
import { testLocation } from '../helpers/test-store.ts';

describe('the facts of a migrated database', () => {
  let opened: TestSqlDatabase;

  beforeAll(async () => {
    opened = await openTestSqlDatabase(MIGRATIONS_DIRECTORY);
  });

  afterAll(() => opened.close());

  /** What is found after a script that is undone again: roles are those of the whole server. */
  async function factsAfter(script: string, clock = Date.now, appliedMigrations = 1) {
    class Undo extends Error {}
    let facts: Awaited<ReturnType<typeof readFacts>> | undefined;
    const work = async (tx: SqlTransaction) => {
      if (script !== '') await tx.exec(script);
      facts = await readFacts(tx, appliedMigrations, clock);
      throw new Undo();
    };
    await expect(opened.database.transaction(work)).rejects.toThrow(Undo);
    if (facts === undefined) throw new Error('Nothing was read.');
    return facts;
  }

  test('say that nothing is wrong where nothing is', async () => {
    const facts = await factsAfter('');
    expect(facts.vectorExtension.installed).toMatch(/^0[.]\d+/);
    expect(facts.vectorExtension.available).toMatch(/^0[.]\d+/);
    expect(facts.unguardedTables).toEqual([]);
    expect(facts.roles.length).toBeGreaterThanOrEqual(6);
    expect(facts.roles.filter((role) => !role.exists || role.bypassesRls || !role.mayBeEntered)).toEqual([]);
    expect(Math.abs(facts.clockOffsetMs)).toBeLessThan(5_000);
    expect(facts.lastMigrationAt).toBeLessThanOrEqual(Date.now() + 5_000);
  });

  test.each([
    ['that is not forced', 'ALTER TABLE app.memories NO FORCE ROW LEVEL SECURITY'],
    ['that is switched off', 'ALTER TABLE app.memories DISABLE ROW LEVEL SECURITY'],
  ])('name tables with row-level security %s', async (_what, script) => {
    expect((await factsAfter(script)).unguardedTables).toEqual(['memories']);
  });

  test('name a role that sees everything', async () => {
    const { roles } = await factsAfter('ALTER ROLE palimpsest_feedback BYPASSRLS');
    expect(roles.filter(({ bypassesRls }) => bypassesRls).map(({ name }) => name)).toEqual([
      'palimpsest_feedback',
    ]);
  });

  test('name roles that the user of the connection may not take on, and what to do where it may not even look', async () => {
    const stranger = `stranger_${randomUUID().slice(0, 8)}`;
    const become = `CREATE ROLE ${stranger}; GRANT ${stranger} TO CURRENT_USER; SET LOCAL ROLE ${stranger};`;
    const facts = await factsAfter(become, Date.now, 0);
    expect(facts.user).toBe(stranger);
    expect(facts.roles.some(({ mayBeEntered }) => mayBeEntered)).toBe(false);
    const asStranger: SqlDatabase = {
      ...opened.database,
      transaction: (work) =>
        opened.database.transaction(async (tx) => {
          await tx.exec(become);
          return work(tx);
        }),
    };
    await expect(inspectDatabase(asStranger, Date.now)).rejects.toMatchObject({
      code: 'forbidden',
      details: [{ hint: expect.stringContaining('GRANT palimpsest_app, ') }],
    });
  });

  test('say how far the clock of this machine is off', async () => {
    const { clockOffsetMs } = await factsAfter('', () => Date.now() + 3_600_000);
    expect(clockOffsetMs).toBeLessThan(-3_500_000);
    expect(clockOffsetMs).toBeGreaterThan(-3_700_000);
  });
});

describe('what takes room', () => {
  test('is told by table and index, and connections are counted', async () => {
    const { location, drop } = await testLocation();
    const { store } = await openStore(location);
    try {
      const { tables, indexes } = await store.sizes();
      const names = tables.map(({ table }) => table);
      expect(names).toContain('memories');
      expect(names).toContain('schema_migrations');
      expect(indexes).toContainEqual({
        table: 'memories',
        index: 'memories_live_content',
        bytes: expect.any(Number),
      });
      for (const { bytes } of [...tables, ...indexes]) expect(bytes).toBeGreaterThanOrEqual(0);
      // How many the pool has opened, and closed again as idle, is its own to decide.
      const most = BACKEND === 'postgres' ? 10 : 1;
      await expect
        .poll(() => {
          const { open, idle, ...rest } = store.connections();
          return { busy: open - idle, ...rest };
        })
        .toEqual({ busy: 0, waiting: 0, most });
      const used = store.sizes();
      await expect.poll(() => store.connections().open, { interval: 1 }).toBeGreaterThan(0);
      await used;
    } finally {
      await store.close();
      await drop();
    }
  });
});

describeOrSkip(BACKEND === 'postgres' ? undefined : 'PostgreSQL alone', 'a look at a PostgreSQL', () => {
  test('changes nothing in an empty database, and says that all migrations are to come', async () => {
    const { url, drop } = await createDatabase();
    try {
      const known = (await readMigrations()).length;
      for (const _ of ['the first look', 'the second look']) {
        expect(await inspectStore({ databaseUrl: url })).toMatchObject({
          backend: 'postgres',
          migrations: { applied: 0, known },
          lastMigrationAt: null,
          vectorExtension: { installed: null },
        });
      }
    } finally {
      await drop();
    }
  });

  test('refuses a database of a later version', async () => {
    const opened = await openTestSqlDatabase(MIGRATIONS_DIRECTORY);
    try {
      await runScript(
        opened.database,
        "INSERT INTO app.schema_migrations (version, name, checksum) VALUES (999, '000999_later', 'x')",
      );
      await expect(inspectStore({ databaseUrl: opened.url ?? '' })).rejects.toMatchObject({
        code: 'store_newer',
      });
    } finally {
      await opened.close();
    }
  });

  test('says that a server is not there', async () => {
    const look = inspectStore({ databaseUrl: 'postgres://nobody@127.0.0.1:1/nothing' });
    const error = await look.catch((reason: unknown) => reason);
    expect(PalimpsestError.isInstance(error) && error.code).toBe('store_unavailable');
  });
});

describeOrSkip(BACKEND === 'pglite' ? undefined : 'PGlite alone', 'a look at a data directory', () => {
  test('makes nothing where there is nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'palimpsest-inspect-'));
    try {
      expect(await inspectStore({ dataDir: join(folder, 'data') })).toBeNull();
      expect(await inspectStore({ dataDir: folder })).toBeNull();
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
