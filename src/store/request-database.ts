import type { Asking } from '../core/policy.ts';
import type { ConnectionCounts, Deferred } from '../core/ports.ts';
import type { Access } from '../core/types.ts';
import { enterAccess, enterReach, type RequestRole } from './queries/access.ts';
import { type PolicyRow, selectPoliciesOf, toPolicy } from './queries/governance/policies.ts';
import type { SqlDatabase, SqlTransaction } from './sql-database.ts';

/** What a transaction does, and the access it turned out to run under. */
type Work<T> = (tx: SqlTransaction, access: Access) => Promise<T>;

interface EnterOptions {
  readonly role: RequestRole;
  readonly mayWrite: boolean;
}

/** A database whose every transaction runs for somebody, under their row-level security. */
export class RequestDatabase {
  readonly backend: SqlDatabase['backend'];
  private readonly database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.database = database;
    this.backend = database.backend;
  }

  /** One snapshot, nothing written. Rights to write do not widen what is read. */
  reading<T>(asking: Asking, work: Work<T>): Promise<T> {
    return this.under({ role: 'palimpsest_app', mayWrite: false }, asking, work, { readOnlySnapshot: true });
  }

  writing<T>(asking: Asking, work: Work<T>): Promise<T> {
    return this.under({ role: 'palimpsest_app', mayWrite: true }, asking, work);
  }

  /** Under one of the narrow roles, each with the rights of one task. */
  as<T>(role: Exclude<RequestRole, 'palimpsest_app'>, asking: Asking, work: Work<T>): Promise<T> {
    return this.under({ role, mayWrite: false }, asking, work);
  }

  connections(): ConnectionCounts {
    return this.database.connections();
  }

  close(): Promise<void> {
    return this.database.close();
  }

  private under<T>(
    options: EnterOptions,
    asking: Asking,
    work: Work<T>,
    transaction: { readonly readOnlySnapshot?: boolean } = {},
  ): Promise<T> {
    return this.database.transaction(async (tx) => work(tx, await enter(tx, asking, options)), transaction);
  }
}

/** Puts a transaction under a role for somebody; where policies decide, they are read by that very transaction. */
async function enter(tx: SqlTransaction, asking: Asking, options: EnterOptions): Promise<Access> {
  const { principal } = asking;
  if (!('subjects' in asking)) {
    await tx.query(enterAccess(asking, options));
    return asking;
  }
  await tx.query(enterAccess({ principal, readGrants: [], writeGrants: [] }, options));
  const rows = await tx.query<PolicyRow>(selectPoliciesOf(principal.tenantId, asking.subjects));
  const access = asking.accessUnder(rows.map(toPolicy));
  await tx.query(enterReach(access, options));
  return access;
}

/** What the function gives now that the transaction knows its access, or the value itself. */
export function settled<Value extends object>(deferred: Deferred<Value>): Value {
  return typeof deferred === 'function' ? deferred() : deferred;
}
