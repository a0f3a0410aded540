import type { PalimpsestError } from './errors.ts';
import type { VectorIndex } from './vector-index.ts';

/** What `palimpsest doctor` looks at, as it was found. Nothing is changed by looking. */
export interface Inspection {
  /** Null: there is no database yet; the first use makes it. */
  readonly database: DatabaseInspection | PalimpsestError | null;
  /** The disk of the embedded store; null where the data is on a server. */
  readonly disk: DiskSpace | null;
  /** What makes vectors, the primary model first; none: nothing does. Or why none can be made at all. */
  readonly models: readonly ModelInspection[] | PalimpsestError;
}

export interface DatabaseInspection {
  readonly backend: 'pglite' | 'postgres';
  readonly serverVersion: string;
  /** The user of the connection. */
  readonly user: string;
  readonly vectorExtension: {
    /** In this database; null: it is not. */
    readonly installed: string | null;
    /** What the server could install; null: nothing. */
    readonly available: string | null;
  };
  readonly migrations: { readonly applied: number; readonly known: number };
  /** Milliseconds since the epoch by the database's clock; null: none was applied. */
  readonly lastMigrationAt: number | null;
  /** The roles that requests run under. */
  readonly roles: readonly RoleInspection[];
  /** Tables of ours whose owner would see everybody's rows. */
  readonly unguardedTables: readonly string[];
  /** Approximate indexes of vectors. */
  readonly vectorIndexes: readonly VectorIndex[];
  /** Milliseconds the database's clock is ahead of this machine's. */
  readonly clockOffsetMs: number;
}

export interface RoleInspection {
  readonly name: string;
  readonly exists: boolean;
  /** Whether row-level security would mean nothing under it. */
  readonly bypassesRls: boolean;
  /** Whether the connection's user may run under it. */
  readonly mayBeEntered: boolean;
}

export interface DiskSpace {
  /** The data directory, or the nearest folder above that is there. */
  readonly folder: string;
  readonly freeBytes: number;
  readonly isWritable: boolean;
}

export interface ModelInspection {
  readonly modelId: string;
  readonly dimensions: number;
  readonly role: 'primary' | 'fallback';
  /** Null where it answered as it should. */
  readonly error: PalimpsestError | null;
}
