import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../src/store/migrate.ts';
import { openPglite } from '../../src/store/pglite.ts';
import { openPostgres, type PostgresOptions } from '../../src/store/postgres.ts';
import type { SqlDatabase, SqlRow } from '../../src/store/sql-database.ts';
import { BACKEND, createDatabase } from './test-database.ts';

/** A database of the suite's backend with nothing in it but a folder's migrations, and how to get rid of it. */
export interface TestSqlDatabase {
  readonly database: SqlDatabase;
  /** Connection string, on PostgreSQL. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

export async function openTestSqlDatabase(
  migrationsDirectory: string,
  options: Omit<PostgresOptions, 'connectionString'> = {},
): Promise<TestSqlDatabase> {
  if (BACKEND === 'pglite') {
    const database = await openPglite({ migrationsDirectory });
    return { database, url: undefined, close: () => database.close() };
  }
  const { url, drop } = await createDatabase();
  const database = openPostgres({ connectionString: url, ...options });
  await migrate(database, { directory: migrationsDirectory });
  return {
    database,
    url,
    close: async () => {
      await database.close();
      await drop();
    },
  };
}

/** A temporary folder of migrations. */
export interface MigrationsFolder {
  readonly directory: string;
  write(name: string, sql: string): void;
  remove(): void;
}

export function makeMigrationsFolder(files: Readonly<Record<string, string>> = {}): MigrationsFolder {
  const directory = mkdtempSync(join(tmpdir(), 'palimpsest-migrations-'));
  const write = (name: string, sql: string) => writeFileSync(join(directory, name), sql);
  for (const [name, sql] of Object.entries(files)) write(name, sql);
  return { directory, write, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

/** One statement in a transaction of its own. */
export function runStatement<Row extends SqlRow = SqlRow>(
  database: SqlDatabase,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return database.transaction((tx) => tx.query<Row>({ text, values }));
}

/** A script in a transaction of its own. */
export function runScript(database: SqlDatabase, script: string): Promise<void> {
  return database.transaction((tx) => tx.exec(script));
}
