import type { Access } from '../core/types.ts';
import { enterAccess, type RequestRole } from './queries/access.ts';
import type { SqlDatabase, SqlTransaction } from './sql-database.ts';

/** A database whose every transaction runs for somebody, under their row-level security. */
export class RequestDatabase {
  readonly backend: SqlDatabase['backend'];
  private readonly database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.database = database;
    this.backend = database.backend;
  }

  /** One snapshot, nothing written. Rights to write do not widen what is read. */
  reading<T>(access: Access, work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    return this.under('palimpsest_app', access, work, { mayWrite: false, readOnlySnapshot: true });
  }

  writing<T>(access: Access, work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    return this.under('palimpsest_app', access, work, { mayWrite: true });
  }

  /** Under one of the narrow roles, each with the rights of one task. */
  as<T>(
    role: Exclude<RequestRole, 'palimpsest_app'>,
    access: Access,
    work: (tx: SqlTransaction) => Promise<T>,
  ): Promise<T> {
    return this.under(role, access, work, { mayWrite: false });
  }

  close(): Promise<void> {
    return this.database.close();
  }

  private under<T>(
    role: RequestRole,
    access: Access,
    work: (tx: SqlTransaction) => Promise<T>,
    options: { mayWrite: boolean; readOnlySnapshot?: boolean },
  ): Promise<T> {
    return this.database.transaction(
      async (tx) => {
        await tx.query(enterAccess(access, { role, mayWrite: options.mayWrite }));
        return work(tx);
      },
      { readOnlySnapshot: options.readOnlySnapshot },
    );
  }
}

/** The server's own work on a tenant: never handed to a request. */
export function systemAccess(tenantId: string): Access {
  return {
    principal: { tenantId, userId: 'system', isAdmin: false, isTenantWide: false },
    readGrants: [],
    writeGrants: [],
  };
}
