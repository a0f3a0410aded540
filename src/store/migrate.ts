import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PalimpsestError } from '../core/errors.ts';
import type { SqlDatabase, SqlTransaction } from './sql-database.ts';
import { sqlState } from './sql-errors.ts';

/**
 * Brings a database to our schema: numbered SQL files, upwards only, each applied once in a transaction of its
 * own. An applied file is never edited; a change is a further file.
 */

export interface Migration {
  /** From 1, without gaps. */
  readonly version: number;
  /** File name without its ending, such as `000001_init`. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the text, hexadecimal. */
  readonly checksum: string;
}

export interface MigrationOptions {
  /** Folder of `NNNNNN_name.sql` files. Default: those of this version of the product. */
  readonly directory?: string | undefined;
}

export interface MigrationReport {
  /** Schema version the database is at now. */
  readonly version: number;
  /** Names of what was applied by this call, in order. */
  readonly applied: readonly string[];
}

/** Beside this file in the sources and in the built package. */
export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('./migrations', import.meta.url));

const FILE_NAME = /^(?<version>\d{6})_[a-z0-9_]+\.sql$/;

/** Any number, as long as no other program on the database takes the same: "palimpse" in ASCII. */
const ADVISORY_LOCK = '8097872805052314469';

/**
 * Applies what is missing. Processes that start at once may all call it: one applies, the others wait for it.
 * A database that is up to date is only read, so a role without rights on the schema can call it too.
 *
 * @throws PalimpsestError `store_newer` when the database is ahead of this version of the product;
 * `invalid_config` when an applied file was edited, the files are not numbered in sequence, or one fails.
 */
export async function migrate(
  database: SqlDatabase,
  options: MigrationOptions = {},
): Promise<MigrationReport> {
  const known = await readMigrations(options.directory);
  const applied: string[] = [];
  while ((await findPending(database, known)).length > 0) {
    const migration = await database.transaction((tx) => applyNext(tx, known));
    // Another process may have applied the last one meanwhile.
    if (migration !== undefined) applied.push(migration.name);
  }
  return { version: known.length, applied };
}

/** What `migrate` would apply, in order. Changes nothing, and refuses the same databases. */
export async function pendingMigrations(
  database: SqlDatabase,
  options: MigrationOptions = {},
): Promise<readonly Migration[]> {
  return findPending(database, await readMigrations(options.directory));
}

/** The migrations of a folder, in order. */
export async function readMigrations(directory: string = MIGRATIONS_DIRECTORY): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(names.map((name, index) => readMigration(directory, name, index + 1)));
}

async function readMigration(directory: string, fileName: string, expected: number): Promise<Migration> {
  const version = Number(FILE_NAME.exec(fileName)?.groups?.version);
  if (version !== expected) {
    throw new PalimpsestError('invalid_config', `The migration ${fileName} is out of sequence.`, {
      details: [
        {
          path: directory,
          got: fileName,
          allowed: `${String(expected).padStart(6, '0')}_name.sql (a-z, 0-9, _)`,
        },
      ],
    });
  }
  // A checkout with other line ends is no edit.
  const sql = (await readFile(join(directory, fileName), 'utf8')).replaceAll('\r\n', '\n');
  const checksum = createHash('sha256').update(sql).digest('hex');
  return { version, name: fileName.slice(0, -'.sql'.length), sql, checksum };
}

function findPending(database: SqlDatabase, known: readonly Migration[]): Promise<readonly Migration[]> {
  return database.transaction((tx) => readPending(tx, known), { readOnlySnapshot: true });
}

async function readPending(tx: SqlTransaction, known: readonly Migration[]): Promise<readonly Migration[]> {
  const applied = await readApplied(tx);
  refuseNewer(applied, known);
  refuseEdited(applied, known);
  return known.slice(applied.length);
}

type AppliedMigration = { version: number; name: string; checksum: string };

async function readApplied(tx: SqlTransaction): Promise<AppliedMigration[]> {
  // Not to_regclass: it answers from a cache that a wait for an advisory lock does not refresh, so a process
  // that had waited still saw no table, and applied the first migration a second time.
  const [table] = await tx.query<{ exists: boolean }>({
    text: `SELECT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname = 'app' AND c.relname = 'schema_migrations') AS exists`,
    values: [],
  });
  if (table?.exists !== true) return [];
  return tx.query<AppliedMigration>({
    text: 'SELECT version, name, checksum FROM app.schema_migrations ORDER BY version',
    values: [],
  });
}

function refuseNewer(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  const version = applied.at(-1)?.version ?? 0;
  if (version <= known.length) return;
  throw new PalimpsestError(
    'store_newer',
    `The database is at schema version ${version}; this version of Palimpsest knows versions up to ${known.length}.`,
    {
      details: [
        {
          path: 'app.schema_migrations',
          got: version,
          allowed: known.length,
          hint: 'Run the version of Palimpsest that made this schema, or a later one.',
        },
      ],
    },
  );
}

function refuseEdited(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  applied.forEach(({ version, name, checksum }, index) => {
    const file = known[index];
    if (file?.version === version && file.checksum === checksum) return;
    throw new PalimpsestError(
      'invalid_config',
      `The database was migrated with another ${name} (version ${version}) than this version of Palimpsest has.`,
      {
        details: [
          {
            path: 'app.schema_migrations',
            got: { version, checksum },
            allowed: { version: file?.version ?? null, checksum: file?.checksum ?? null },
            hint: 'Applied migrations are never edited: restore the file, and put the change into a new one.',
          },
        ],
      },
    );
  });
}

/** Applies the first missing migration, if one is still missing under the lock. */
async function applyNext(tx: SqlTransaction, known: readonly Migration[]): Promise<Migration | undefined> {
  // An index may take longer to build than any request's statement should.
  await tx.exec(`SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`);
  const [next] = await readPending(tx, known);
  if (next === undefined) return undefined;
  await inMigration(next, async () => {
    if (next.version === 1) await tx.exec(BOOTSTRAP);
    // First, so that a second process that got past the lock somehow would fail here and not half-way.
    await tx.query({
      text: 'INSERT INTO app.schema_migrations (version, name, checksum) VALUES ($1, $2, $3)',
      values: [next.version, next.name, next.checksum],
    });
    await tx.exec(next.sql);
  });
  return next;
}

/** What the first migration finds: it grants the right to read this table. */
const BOOTSTRAP = `
  CREATE SCHEMA IF NOT EXISTS app;
  CREATE TABLE IF NOT EXISTS app.schema_migrations (
    version integer PRIMARY KEY CHECK (version > 0),
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
  )`;

async function inMigration(migration: Migration, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (PalimpsestError.isInstance(error) && error.code === 'store_unavailable') throw error;
    throw new PalimpsestError(
      'invalid_config',
      `The migration ${migration.name} failed: ${rootMessage(error)}.`,
      { details: [{ path: migration.name, hint: hintFor(error) }], cause: error },
    );
  }
}

/** What the server said, below our own words for it. */
function rootMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? rootMessage(error.cause) : error.message;
}

function hintFor(error: unknown): string {
  switch (sqlState(error)) {
    case '42501':
      return 'Migrate with a role that may create schemas, roles and the extension vector; requests need no such rights.';
    case '0A000':
      return 'Install pgvector 0.8 or later on the database server.';
    default:
      return 'Nothing of this migration was kept. Mend the cause, then start again.';
  }
}
