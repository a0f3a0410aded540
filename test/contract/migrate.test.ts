import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeSchema } from '../../src/store/describe-schema.ts';
import { MIGRATIONS_DIRECTORY, migrate, pendingMigrations, readMigrations } from '../../src/store/migrate.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import type { SqlDatabase } from '../../src/store/sql-database.ts';
import { BACKEND, createDatabase } from '../helpers/test-database.ts';
import {
  type MigrationsFolder,
  makeMigrationsFolder,
  openTestSqlDatabase,
  runScript,
  runStatement,
  type TestSqlDatabase,
} from '../helpers/test-sql-database.ts';

let nothing: MigrationsFolder;
let folder: MigrationsFolder;
let opened: TestSqlDatabase;
let database: SqlDatabase;

beforeAll(async () => {
  nothing = makeMigrationsFolder();
  opened = await openTestSqlDatabase(nothing.directory);
  database = opened.database;
});
afterAll(async () => {
  await opened.close();
  nothing.remove();
});
beforeEach(async () => {
  await runScript(database, 'DROP SCHEMA IF EXISTS app CASCADE; DROP EXTENSION IF EXISTS vector CASCADE');
  folder = makeMigrationsFolder({
    '000001_first.sql': 'CREATE TABLE app.first (id integer);',
    '000002_second.sql': '-- needs the first\nALTER TABLE app.first ADD COLUMN name text;',
  });
});
afterEach(() => folder.remove());

const run = () => migrate(database, { directory: folder.directory });
const appliedNames = async () =>
  (await runStatement(database, 'SELECT name FROM app.schema_migrations ORDER BY version')).map(
    ({ name }) => name,
  );
const tableExists = async (name: string) =>
  (await runStatement(database, 'SELECT to_regclass($1) IS NOT NULL AS found', [name]))[0]?.found;

describe('migrate', () => {
  it('applies what is missing in order, and says what it was', async () => {
    expect(await run()).toEqual({ version: 2, applied: ['000001_first', '000002_second'] });
    expect(await appliedNames()).toEqual(['000001_first', '000002_second']);
    expect(await runStatement(database, 'SELECT id, name FROM app.first')).toEqual([]);
  });

  it('does nothing to a database that is up to date', async () => {
    await run();
    const before = await runStatement(database, 'SELECT * FROM app.schema_migrations ORDER BY version');
    expect(await run()).toEqual({ version: 2, applied: [] });
    expect(await runStatement(database, 'SELECT * FROM app.schema_migrations ORDER BY version')).toEqual(
      before,
    );
  });

  it('tells what is pending without applying it', async () => {
    const pending = await pendingMigrations(database, { directory: folder.directory });
    expect(pending.map(({ name }) => name)).toEqual(['000001_first', '000002_second']);
    expect(await tableExists('app.schema_migrations')).toBe(false);
  });

  it('applies a later file to a database with entries', async () => {
    await run();
    await runScript(database, "INSERT INTO app.first VALUES (1, 'kept')");
    folder.write('000003_third.sql', 'ALTER TABLE app.first ADD COLUMN extra integer NOT NULL DEFAULT 0');
    expect(await run()).toEqual({ version: 3, applied: ['000003_third'] });
    expect(await runStatement(database, 'SELECT * FROM app.first')).toEqual([
      { id: 1, name: 'kept', extra: 0 },
    ]);
  });

  it('keeps nothing of a migration that fails, and what came before it', async () => {
    folder.write('000003_broken.sql', 'CREATE TABLE app.third (id integer); SELECT nonsense;');
    await expect(run()).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(/000003_broken failed.*nonsense/),
    });
    expect(await appliedNames()).toEqual(['000001_first', '000002_second']);
    expect(await tableExists('app.third')).toBe(false);
    folder.write('000003_broken.sql', 'CREATE TABLE app.third (id integer);');
    expect(await run()).toEqual({ version: 3, applied: ['000003_broken'] });
  });

  it('refuses an applied file that was edited, naming it', async () => {
    await run();
    folder.write('000001_first.sql', 'CREATE TABLE app.first (id bigint);');
    await expect(run()).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('000001_first'),
    });
  });

  it('takes other line ends for the same file', async () => {
    await run();
    folder.write('000002_second.sql', '-- needs the first\r\nALTER TABLE app.first ADD COLUMN name text;');
    expect(await run()).toEqual({ version: 2, applied: [] });
  });

  it('refuses a database that is ahead, with both versions', async () => {
    await run();
    const older = makeMigrationsFolder({ '000001_first.sql': 'CREATE TABLE app.first (id integer);' });
    try {
      const attempt = migrate(database, { directory: older.directory });
      await expect(attempt).rejects.toMatchObject({ code: 'store_newer', details: [{ got: 2, allowed: 1 }] });
      await expect(attempt).rejects.toThrow(/version 2.*up to 1/);
    } finally {
      older.remove();
    }
  });

  it('refuses a database in which an earlier one was left out', async () => {
    await run();
    await runScript(database, 'DELETE FROM app.schema_migrations WHERE version = 1');
    await expect(run()).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it.each<[what: string, name: string]>([
    ['a gap', '000004_gap.sql'],
    ['a number used twice', '000002_twin.sql'],
    ['a name of another form', '3_third.sql'],
  ])('refuses a folder with %s', async (_what, name) => {
    folder.write(name, 'SELECT 1');
    await expect(run()).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('sequence'),
    });
    expect(await tableExists('app.schema_migrations')).toBe(false);
  });

  it('applies each migration once when many start at the same moment', async () => {
    const starters = await Promise.all(
      Array.from({ length: 8 }, async () => {
        if (opened.url === undefined) return { database, close: async () => {} };
        const another = openPostgres({ connectionString: opened.url, maxConnections: 1 });
        return { database: another, close: () => another.close() };
      }),
    );
    const reports = await Promise.all(
      starters.map((starter) => migrate(starter.database, { directory: folder.directory })),
    );
    await Promise.all(starters.map((starter) => starter.close()));
    expect(reports.map(({ version }) => version)).toEqual(Array(8).fill(2));
    expect(reports.flatMap(({ applied }) => applied).sort()).toEqual(['000001_first', '000002_second']);
    expect(await appliedNames()).toEqual(['000001_first', '000002_second']);
  });
});

describe("the product's own migrations", () => {
  it('make the schema that schema.sql shows', async () => {
    await migrate(database);
    const shown = readFileSync(join(MIGRATIONS_DIRECTORY, '..', 'schema.sql'), 'utf8');
    const made = await describeSchema(database);
    expect(made).toBe(shown.slice(shown.indexOf('CREATE EXTENSION')));
  });

  it('are at the version the database reports', async () => {
    const { version } = await migrate(database);
    expect(version).toBe((await readMigrations()).length);
    expect(await runStatement(database, 'SELECT max(version) AS version FROM app.schema_migrations')).toEqual(
      [{ version }],
    );
  });

  it.runIf(BACKEND === 'postgres')('can be applied to many databases of one server at once', async () => {
    // Roles belong to the server, so these meet in its catalogs.
    const databases = await Promise.all(Array.from({ length: 6 }, () => createDatabase()));
    const results = await Promise.all(
      databases.map(async ({ url }) => {
        const connection = openPostgres({ connectionString: url });
        try {
          return (await migrate(connection)).applied.length;
        } finally {
          await connection.close();
        }
      }),
    );
    await Promise.all(databases.map(({ drop }) => drop()));
    expect(results).toEqual(Array(6).fill((await readMigrations()).length));
  });
});
