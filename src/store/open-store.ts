import type { EmbeddingStore } from '../core/embedding-store.ts';
import { PalimpsestError } from '../core/errors.ts';
import type { GovernanceStore } from '../core/governance.ts';
import type { Clock, Store } from '../core/ports.ts';
import { DEFAULT_HNSW_SEARCH, type HnswSearchOptions, type VectorIndexStore } from '../core/vector-index.ts';
import type { DatabaseCopy } from './backup/take-backup.ts';
import type { HolderTokens } from './data-directory-lock.ts';
import { createHnswSearch, type HnswSearch } from './hnsw-search.ts';
import { migrate } from './migrate.ts';
import { openPglite } from './pglite.ts';
import { openPostgres, runAlone } from './postgres.ts';
import { RequestDatabase } from './request-database.ts';
import type { SqlDatabase } from './sql-database.ts';
import { SqlEmbeddingStore } from './sql-embedding-store.ts';
import { SqlGovernanceStore } from './sql-governance-store.ts';
import { SqlMemoryStore } from './sql-memory-store.ts';
import { NO_VECTOR_INDEXES, SqlVectorIndexStore } from './sql-vector-index-store.ts';

/** Where the entries live. */
export type StoreLocation =
  /** Embedded, kept in a folder that one process at a time may use. */
  | { readonly dataDir: string }
  /** A PostgreSQL server with pgvector, shared by any number of processes. */
  | { readonly databaseUrl: string; readonly maxConnections?: number | undefined }
  /** Embedded and gone with the process. */
  | { readonly inMemory: true };

export interface OpenStoreOptions {
  /** Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /** Told of failures that no caller waits for, such as a lost idle connection. */
  readonly onBackgroundError?: ((error: unknown) => void) | undefined;
  /** How approximate indexes are searched, where somebody made one. Default: {@link DEFAULT_HNSW_SEARCH}. */
  readonly hnsw?: HnswSearchOptions | undefined;
}

export interface OpenedStore {
  /** Entries and rules. Closing it closes the database, and `governance` with it. */
  readonly store: Store;
  /** Keys, policies, profiles, audit and traces. */
  readonly governance: GovernanceStore;
  /** Models, their changes, and vectors that are still to be made. */
  readonly embeddings: EmbeddingStore;
  /** Approximate indexes of vectors. */
  readonly indexes: VectorIndexStore;
  /** Lets a process that finds the data directory taken know where the data is served; `null`: no longer. */
  setUrl(url: string | null, tokens?: HolderTokens): void;
  /**
   * Copies the whole store as it is now, all tenants of it, beside its files. The caller removes the copy.
   *
   * @throws PalimpsestError `invalid_config` for a store that is not in files of ours
   */
  copy(productVersion: string): Promise<DatabaseCopy>;
}

/**
 * Opens a store, migrated and ready. A PostgreSQL that is down rejects with `store_unavailable` and leaves
 * nothing behind, so that opening can be tried again.
 *
 * @throws PalimpsestError `store_locked`, `store_newer`, `store_unavailable`
 */
export async function openStore(
  location: StoreLocation,
  options: OpenStoreOptions = {},
): Promise<OpenedStore> {
  const clock = options.clock ?? Date.now;
  const { onBackgroundError } = options;
  if ('databaseUrl' in location) {
    const database = openPostgres({
      connectionString: location.databaseUrl,
      maxConnections: location.maxConnections,
      onBackgroundError,
    });
    try {
      await migrate(database);
    } catch (error) {
      await database.close();
      throw error;
    }
    const hnsw = createHnswSearch(options.hnsw ?? DEFAULT_HNSW_SEARCH);
    const run = (statement: string, signal?: AbortSignal) =>
      runAlone(location.databaseUrl, statement, signal);
    return {
      ...storesOn(database, clock, hnsw),
      indexes: new SqlVectorIndexStore(database, run),
      setUrl: () => {},
      copy: () => Promise.reject(backedUpElsewhere()),
    };
  }
  const dataDir = 'dataDir' in location ? location.dataDir : undefined;
  const database = await openPglite({ dataDir, onBackgroundError });
  return {
    ...storesOn(database, clock, null),
    indexes: NO_VECTOR_INDEXES,
    setUrl: (url, tokens) => database.setUrl(url, tokens),
    copy: (productVersion) => database.copy(productVersion),
  };
}

/** What to do about a PostgreSQL server, whose own tools know how. */
export function backedUpElsewhere(): PalimpsestError {
  return new PalimpsestError(
    'invalid_config',
    "A store on PostgreSQL is backed up by PostgreSQL's own tools, not by this command.",
    {
      details: [
        {
          path: 'databaseUrl',
          hint: 'Run pg_dump --format=custom --file=palimpsest.dump "$PALIMPSEST_DATABASE_URL" as a superuser, and restore with pg_restore; docs/backup.md has both in full.',
        },
      ],
    },
  );
}

function storesOn(
  database: SqlDatabase,
  clock: Clock,
  hnsw: HnswSearch | null,
): Pick<OpenedStore, 'store' | 'governance' | 'embeddings'> {
  const requests = new RequestDatabase(database);
  return {
    store: new SqlMemoryStore(requests, clock, hnsw),
    governance: new SqlGovernanceStore(requests, clock),
    embeddings: new SqlEmbeddingStore(requests, clock),
  };
}
