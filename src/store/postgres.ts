import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool, type PoolClient, type QueryConfig } from 'pg';
import { PalimpsestError, reasonOf } from '../core/errors.ts';
import type { ConnectionCounts } from '../core/ports.ts';
import type { SqlDatabase, SqlRow, SqlTransaction, SqlTransactionOptions } from './sql-database.ts';
import { endsConnection, isContention, STORE_RETRY_SECONDS, toStoreError } from './sql-errors.ts';
import { refuseNested, runTransaction, type SqlConnection } from './sql-transaction.ts';
import { RESULT_PARSERS, type WireValue } from './sql-values.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with `?sslmode=…` and the like as `pg` understands them. */
  readonly connectionString: string;
  /** Most connections held at a time, from 1. Transactions beyond it wait, at most `connectTimeoutMs`. Default 10. */
  readonly maxConnections?: number | undefined;
  /** Name shown in `pg_stat_activity`, unless the connection string sets one. Default `palimpsest`. */
  readonly applicationName?: string | undefined;
  /** Longest one statement may run, in milliseconds; 0 for no limit. Scripts (`exec`) have none. Default 30,000. */
  readonly statementTimeoutMs?: number | undefined;
  /**
   * Longest a transaction may wait for us between two statements, in milliseconds; 0 for no limit. It frees
   * the locks of a process that was stopped in the middle. Default 60,000.
   */
  readonly idleTransactionTimeoutMs?: number | undefined;
  /** Longest to wait for a connection, new or free, in milliseconds; 0 for no limit. Default 10,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Told of failures that no caller waits for, such as a lost idle connection. The next call finds out by itself. */
  readonly onBackgroundError?: ((error: unknown) => void) | undefined;
}

type Settings = { readonly [Name in keyof PostgresOptions]-?: NonNullable<PostgresOptions[Name]> };

const DEFAULTS = {
  maxConnections: 10,
  applicationName: 'palimpsest',
  statementTimeoutMs: 30_000,
  idleTransactionTimeoutMs: 60_000,
  connectTimeoutMs: 10_000,
  onBackgroundError: () => {},
} satisfies Omit<Settings, 'connectionString'>;

/** Runs of one transaction, the first included. Row locks order most writers, so contention is rare and short. */
const MAX_ATTEMPTS = 5;
/** Longest wait before the second run; it doubles with each further one. */
const BACKOFF_MS = 10;
/** How much later than the server's own timeout we stop waiting for an answer: it means the network is gone. */
const ANSWER_GRACE_MS = 5_000;

/**
 * A PostgreSQL server. Connects when the first transaction needs it, so a server that is down, or a wrong
 * connection string, makes that transaction reject with `store_unavailable`, and a later one works again.
 *
 * The work of a transaction may run more than once: after a serialization failure or a deadlock, and when a
 * kept connection turns out to be dead before COMMIT was sent. So it must have no effect but its statements.
 *
 * Nothing outlives a transaction on the connection (`SET LOCAL`, no named statements, no advisory session
 * locks), so a pooler in transaction mode can stand in between.
 */
export function openPostgres(options: PostgresOptions): SqlDatabase {
  return new PostgresDatabase({
    connectionString: options.connectionString,
    maxConnections: options.maxConnections ?? DEFAULTS.maxConnections,
    applicationName: options.applicationName ?? DEFAULTS.applicationName,
    statementTimeoutMs: options.statementTimeoutMs ?? DEFAULTS.statementTimeoutMs,
    idleTransactionTimeoutMs: options.idleTransactionTimeoutMs ?? DEFAULTS.idleTransactionTimeoutMs,
    connectTimeoutMs: options.connectTimeoutMs ?? DEFAULTS.connectTimeoutMs,
    onBackgroundError: options.onBackgroundError ?? DEFAULTS.onBackgroundError,
  });
}

/** How often the server looks whether whoever wanted a long statement is still there. */
const LOOK_FOR_CLIENT = '2s';

/**
 * Runs one statement outside of any transaction, on a connection of its own and without a time limit: for what
 * can't be part of a transaction, such as building an index concurrently. When this process dies, or the signal says so,
 * the server gives the statement up.
 *
 * @throws PalimpsestError `store_unavailable`, or the signal's reason
 */
export async function runAlone(
  connectionString: string,
  statement: string,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const client = new Client({ connectionString, fallback_application_name: DEFAULTS.applicationName });
  // The failure of the statement is told by its own rejection.
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    throw cannotConnect(connectionString, error);
  }
  const giveUp = () => void client.end();
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    // While it connected there was nothing to end yet.
    signal?.throwIfAborted();
    await client.query(`SET statement_timeout = 0`);
    await client.query(`SET client_connection_check_interval = '${LOOK_FOR_CLIENT}'`);
    await client.query(statement);
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw toStoreError(error);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    await client.end();
  }
}

class PostgresDatabase implements SqlDatabase {
  readonly backend = 'postgres';
  private readonly settings: Settings;
  private readonly pool: Pool;
  private closed: Promise<void> | undefined;
  /** Clients that have served a transaction: only these can have died unnoticed. */
  private readonly served = new WeakSet<PoolClient>();

  constructor(settings: Settings) {
    this.settings = settings;
    this.pool = new Pool({
      connectionString: settings.connectionString,
      max: settings.maxConnections,
      fallback_application_name: settings.applicationName,
      connectionTimeoutMillis: settings.connectTimeoutMs,
      keepAlive: true,
      types: { getTypeParser: (oid: number) => RESULT_PARSERS.get(oid) ?? keepText },
    });
    this.pool.on('error', settings.onBackgroundError);
    // Without a listener a connection that dies while it is in use would end the process. The statement that
    // is running is told by its own rejection.
    this.pool.on('connect', (client) => client.on('error', () => {}));
  }

  async transaction<T>(
    work: (tx: SqlTransaction) => Promise<T>,
    options: SqlTransactionOptions = {},
  ): Promise<T> {
    refuseNested(this);
    for (let attempt = 1; ; attempt += 1) {
      const connection = await this.connect(options);
      try {
        return await runTransaction(this, connection, work);
      } catch (error) {
        if (attempt >= MAX_ATTEMPTS || !connection.mayRunAgainAfter(error)) throw error;
      } finally {
        connection.release();
      }
      await sleep(BACKOFF_MS * 2 ** (attempt - 1) * Math.random());
    }
  }

  connections(): ConnectionCounts {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.pool;
    return { open, idle, waiting, most: this.settings.maxConnections };
  }

  close(): Promise<void> {
    this.closed ??= this.pool.end();
    return this.closed;
  }

  private async connect(options: SqlTransactionOptions): Promise<PostgresConnection> {
    if (this.closed !== undefined) {
      throw new PalimpsestError('store_unavailable', 'The connection to PostgreSQL has been closed.');
    }
    try {
      refuseUnknownForm(this.settings.connectionString);
      const client = await this.pool.connect();
      const isReused = this.served.has(client);
      this.served.add(client);
      return new PostgresConnection(client, this.settings, options, isReused);
    } catch (error) {
      throw cannotConnect(this.settings.connectionString, error);
    }
  }
}

function keepText(text: string): string {
  return text;
}

/** A client taken from the pool for one transaction. */
class PostgresConnection implements SqlConnection {
  private readonly client: PoolClient;
  private readonly settings: Settings;
  private readonly readOnly: boolean;
  private readonly isReused: boolean;
  private isUsable = true;
  private hasSentCommit = false;
  /** Fulfilled when the server has answered everything. */
  private settled: Promise<unknown> = Promise.resolve();

  constructor(client: PoolClient, settings: Settings, options: SqlTransactionOptions, isReused: boolean) {
    this.client = client;
    this.settings = settings;
    this.readOnly = options.readOnlySnapshot ?? false;
    this.isReused = isReused;
  }

  async query(text: string, values: readonly WireValue[]): Promise<SqlRow[]> {
    const { statementTimeoutMs } = this.settings;
    const config: QueryConfig<WireValue[]> & { queryMode: string; query_timeout?: number } = {
      text,
      values: [...values],
      // The extended protocol even without values, so that a statement is one statement, as on PGlite.
      queryMode: 'extended',
      ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + ANSWER_GRACE_MS }),
    };
    return (await this.sent(this.client.query<SqlRow>(config))).rows;
  }

  async exec(script: string): Promise<void> {
    await this.sent(this.client.query(script));
  }

  async begin(): Promise<void> {
    try {
      await this.exec(beginScript(this.settings, this.readOnly));
    } catch (error) {
      // Whether a transaction is open is unknown now.
      this.isUsable = false;
      throw error;
    }
  }

  async commit(): Promise<string> {
    this.hasSentCommit = true;
    const committed = this.sent(this.client.query('COMMIT'));
    if (!this.readOnly) return (await committed).command;
    // A snapshot has nothing to lose, so its reader need not wait one more round trip.
    this.settled = committed.catch(() => undefined);
    return 'COMMIT';
  }

  async rollback(): Promise<void> {
    if (!this.isUsable) return;
    try {
      await this.sent(this.client.query('ROLLBACK'));
    } catch {
      // The caller gets the failure that made us roll back; this one costs the connection, and no more.
      this.isUsable = false;
    }
  }

  /** Nothing was committed, and a fresh run can succeed. */
  mayRunAgainAfter(error: unknown): boolean {
    const wasDead = !this.isUsable && this.isReused && !this.hasSentCommit;
    return wasDead || isContention(error);
  }

  /** Gives the client back to the pool, or closes it when its state is unknown. */
  release(): void {
    this.settled.then(() => this.client.release(!this.isUsable));
  }

  private async sent<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (endsConnection(error)) this.isUsable = false;
      throw toStoreError(error);
    }
  }
}

/**
 * One message, and so one round trip. The settings make values arrive in the form they are read in, whatever
 * the server, its database or the role has as default.
 */
function beginScript(settings: Settings, readOnly: boolean): string {
  const mode = readOnly ? 'REPEATABLE READ READ ONLY' : 'READ COMMITTED';
  return `BEGIN ISOLATION LEVEL ${mode};
    SET LOCAL statement_timeout = ${Math.trunc(settings.statementTimeoutMs)};
    SET LOCAL idle_in_transaction_session_timeout = ${Math.trunc(settings.idleTransactionTimeoutMs)};
    SET LOCAL DateStyle = 'ISO'; SET LOCAL TimeZone = 'UTC';
    SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1`;
}

/** `pg` reads anything else as a path below a server named "base". */
function refuseUnknownForm(connectionString: string): void {
  if (/^(?:postgres(?:ql)?:\/\/|socket:|\/)/.test(connectionString)) return;
  throw new Error('the connection string must have the form postgres://user:password@host:port/database');
}

/** Names the server by host and port alone: what follows or precedes them can hold a password. */
function cannotConnect(connectionString: string, cause: unknown): PalimpsestError {
  const server = serverOf(connectionString);
  return new PalimpsestError(
    'store_unavailable',
    `Could not connect to PostgreSQL at ${server}: ${reasonOf(cause)}.`,
    {
      details: [
        {
          got: server,
          hint: 'Check the connection string, and that the server runs and accepts this user. Calls work again as soon as it does.',
        },
      ],
      retryAfterSeconds: STORE_RETRY_SECONDS,
      cause,
    },
  );
}

function serverOf(connectionString: string): string {
  const url = URL.canParse(connectionString) ? new URL(connectionString) : undefined;
  if (url === undefined || url.hostname === '') return 'the configured address';
  return `${url.hostname}:${url.port === '' ? 5432 : url.port}`;
}
