import { PalimpsestError } from '../core/errors.ts';
import type { DatabaseInspection } from '../core/inspection.ts';
import type { Clock } from '../core/ports.ts';
import { type Migration, pendingMigrations, readMigrations } from './migrate.ts';
import type { StoreLocation } from './open-store.ts';
import { hasDatabaseFiles } from './pglite/data-directory.ts';
import { openPglite } from './pglite.ts';
import { openPostgres } from './postgres.ts';
import { REQUEST_ROLES } from './queries/access.ts';
import {
  type RoleRow,
  type ServerRow,
  selectLastMigration,
  selectRoles,
  selectServer,
  selectUnguardedTables,
} from './queries/inspection.ts';
import { selectVectorIndexes, toVectorIndex, type VectorIndexRow } from './queries/vector-index.ts';
import type { SqlDatabase, SqlTransaction } from './sql-database.ts';

/** Somebody waits for it. */
const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Looks at a store without changing it: nothing is made, and no migration applied. Null where there is no database yet.
 *
 * @throws PalimpsestError `store_locked`, `store_newer`, `store_unavailable`, and `invalid_config` where an applied
 *   migration is not the one this version has
 */
export async function inspectStore(
  location: StoreLocation,
  clock: Clock = Date.now,
): Promise<DatabaseInspection | null> {
  if ('dataDir' in location && !hasDatabaseFiles(location.dataDir)) return null;
  const database = await openUnchanged(location);
  try {
    return await inspectDatabase(database, clock);
  } finally {
    await database.close();
  }
}

function openUnchanged(location: StoreLocation): SqlDatabase | Promise<SqlDatabase> {
  if ('databaseUrl' in location) {
    return openPostgres({
      connectionString: location.databaseUrl,
      maxConnections: 1,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
  }
  return openPglite({ dataDir: 'dataDir' in location ? location.dataDir : undefined, migrates: false });
}

/** The same for a database that is open. */
export async function inspectDatabase(database: SqlDatabase, clock: Clock): Promise<DatabaseInspection> {
  const known = (await readMigrations()).length;
  const applied = known - (await pendingOrRefusal(database)).length;
  return database.transaction(
    async (tx) => ({
      backend: database.backend,
      migrations: { applied, known },
      ...(await readFacts(tx, applied, clock)),
    }),
    { readOnlySnapshot: true },
  );
}

/** A user who may not even look has not been granted the roles, which give the right to. */
async function pendingOrRefusal(database: SqlDatabase): Promise<readonly Migration[]> {
  try {
    return await pendingMigrations(database);
  } catch (cause) {
    if (!PalimpsestError.isInstance(cause) || cause.code !== 'forbidden') throw cause;
    throw new PalimpsestError('forbidden', 'The user of the connection may not read the schema app.', {
      details: [{ hint: `Run as its owner: GRANT ${REQUEST_ROLES.join(', ')} TO <that user>;` }],
      cause,
    });
  }
}

/** What the database says of itself to the connection's own user, under whatever that may do. */
export async function readFacts(
  tx: SqlTransaction,
  appliedMigrations: number,
  clock: Clock,
): Promise<Omit<DatabaseInspection, 'backend' | 'migrations'>> {
  const before = clock();
  const [server] = await tx.query<ServerRow>(selectServer());
  const between = (before + clock()) / 2;
  if (server === undefined) throw new Error('The database did not report its state.');
  const roles = await tx.query<RoleRow>(selectRoles(REQUEST_ROLES));
  const unguarded = await tx.query<{ name: string }>(selectUnguardedTables());
  const indexes = await tx.query<VectorIndexRow>(selectVectorIndexes());
  // Before the first migration the table is not there.
  const [last] =
    appliedMigrations === 0 ? [] : await tx.query<{ applied_at: Date | null }>(selectLastMigration());
  return {
    serverVersion: server.server_version,
    user: server.user_name,
    vectorExtension: { installed: server.vector_installed, available: server.vector_available },
    lastMigrationAt: last?.applied_at?.getTime() ?? null,
    roles: roles.map(({ name, exists, bypasses_rls: bypassesRls, may_be_entered: mayBeEntered }) => ({
      name,
      exists,
      bypassesRls,
      mayBeEntered,
    })),
    unguardedTables: unguarded.map(({ name }) => name),
    vectorIndexes: indexes.flatMap((row) => toVectorIndex(row) ?? []),
    clockOffsetMs: server.database_time.getTime() - between,
  };
}
