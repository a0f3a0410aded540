import type { ConnectionCounts } from '../core/ports.ts';

/**
 * The port between our SQL and a Postgres, wherever it runs. `pglite.ts` and `postgres.ts`
 * implement it; nothing above this file knows which one it speaks to.
 */

/** A statement with its bound values. Text never contains a caller's data. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type SqlRow = Record<string, unknown>;

/** Runs statements inside one transaction. */
export interface SqlTransaction {
  query<Row extends SqlRow = SqlRow>(statement: SqlStatement): Promise<Row[]>;
  /** Several statements without values, for migrations. */
  exec(script: string): Promise<void>;
}

export interface SqlTransactionOptions {
  /** All statements see one snapshot, and none may write. */
  readonly readOnlySnapshot?: boolean | undefined;
}

/**
 * A database. Rejections of `transaction` roll back. Connection failures arrive as `store_unavailable`;
 * errors the server raised keep their SQLSTATE in `code` (see `sql-errors.ts`).
 */
export interface SqlDatabase {
  readonly backend: 'pglite' | 'postgres';
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>, options?: SqlTransactionOptions): Promise<T>;
  connections(): ConnectionCounts;
  close(): Promise<void>;
}
