import { setImmediate as nextTurn } from 'node:timers/promises';
import { PalimpsestError } from '../../core/errors.ts';
import type { ConnectionCounts } from '../../core/ports.ts';
import type { SqlDatabase, SqlRow, SqlTransaction, SqlTransactionOptions } from '../sql-database.ts';
import { endsConnection, STORE_RETRY_SECONDS, toStoreError } from '../sql-errors.ts';
import { refuseNested, runTransaction, type SqlConnection } from '../sql-transaction.ts';
import { byteaText, type WireValue } from '../sql-values.ts';
import type { Engine } from './engine.ts';
import { Maintenance, parseLogPosition } from './maintenance.ts';

export interface PgliteDatabaseOptions {
  /** Starts an engine on the data; again after one broke down. */
  readonly start: () => Promise<Engine>;
  /** Whether the data outlives an engine. Data in memory is gone with it, and must not come back empty. */
  readonly isDurable: boolean;
  /** Called once, after the engine is closed. */
  readonly onClose: () => void;
  readonly onBackgroundError: (error: unknown) => void;
}

/**
 * One PGlite as a database. Transactions run one after another, in the order they were asked for.
 *
 * An engine that breaks down (a failed write to disk, a trap in WebAssembly) is never called again: it would
 * answer with no rows at all. The transaction rejects with `store_unavailable`, and the next one starts a new
 * engine on the same directory, which recovers everything that was acknowledged.
 */
export class PgliteDatabase implements SqlDatabase {
  readonly backend = 'pglite';
  private readonly options: PgliteDatabaseOptions;
  private readonly maintenance = new Maintenance();
  private engine: Engine | undefined;
  private hasStarted = false;
  private closed: Promise<void> | undefined;
  private last: Promise<unknown> = Promise.resolve();
  /** Tasks that run or wait for their turn. */
  private unfinished = 0;

  constructor(options: PgliteDatabaseOptions) {
    this.options = options;
  }

  async transaction<T>(
    work: (tx: SqlTransaction) => Promise<T>,
    options: SqlTransactionOptions = {},
  ): Promise<T> {
    refuseNested(this);
    if (this.closed !== undefined) throw closedAlready();
    return this.enqueue(() => this.transactNow(work, options.readOnlySnapshot ?? false));
  }

  /** One at a time: PGlite has a single connection. */
  connections(): ConnectionCounts {
    const open = this.engine === undefined ? 0 : 1;
    return {
      open,
      idle: this.unfinished === 0 ? open : 0,
      waiting: Math.max(0, this.unfinished - 1),
      most: 1,
    };
  }

  close(): Promise<void> {
    this.closed ??= this.enqueue(async () => {
      try {
        await this.engine?.pglite.close();
      } finally {
        this.engine = undefined;
        this.options.onClose();
      }
    });
    return this.closed;
  }

  /**
   * One after another, each in a turn of the event loop of its own: an engine answers within the turn it is asked in, so
   * a queue that never empties would let nothing else run, not even a probe of liveness.
   */
  private enqueue<T>(task: () => Promise<T>): Promise<T> {
    this.unfinished += 1;
    const done = this.last
      .then(() => nextTurn())
      .then(task)
      .finally(() => {
        this.unfinished -= 1;
      });
    // Only the order counts here; whoever asked for the task gets its failure.
    this.last = done.catch(() => undefined);
    return done;
  }

  private async transactNow<T>(work: (tx: SqlTransaction) => Promise<T>, readOnly: boolean): Promise<T> {
    const engine = await this.running();
    const connection = new PgliteConnection(engine, readOnly);
    try {
      return await runTransaction(this, connection, work);
    } finally {
      this.afterwards(engine, connection);
    }
  }

  private async running(): Promise<Engine> {
    if (this.engine === undefined) {
      if (this.hasStarted && !this.options.isDurable) throw lostWithItsEngine();
      const engine = await this.options.start();
      this.engine = engine;
      this.hasStarted = true;
      this.maintenance.startAt(await new PgliteConnection(engine, true).logPosition());
    }
    return this.engine;
  }

  /** What a transaction leaves to be done. Its caller doesn't wait for it, the next transaction does. */
  private afterwards(engine: Engine, connection: PgliteConnection): void {
    if (connection.isBroken) this.discard(engine);
    if (connection.committedAt === undefined) return;
    this.maintenance.wrote(connection.committedAt);
    if (this.maintenance.isDue) this.enqueue(() => this.maintain());
  }

  private async maintain(): Promise<void> {
    // Another turn may have done it, or the database may be closed by now.
    if (this.engine === undefined || !this.maintenance.isDue) return;
    const engine = this.engine;
    const connection = new PgliteConnection(engine, false);
    try {
      await this.maintenance.run(connection);
    } catch (error) {
      this.options.onBackgroundError(error);
    }
    if (connection.isBroken) this.discard(engine);
  }

  private discard(engine: Engine): void {
    engine.abandon();
    this.engine = undefined;
  }
}

/** An engine in the use of one transaction. */
class PgliteConnection implements SqlConnection {
  isBroken = false;
  /** Log position after the commit of a write. */
  committedAt: bigint | undefined;
  private readonly engine: Engine;
  private readonly readOnly: boolean;

  constructor(engine: Engine, readOnly: boolean) {
    this.engine = engine;
    this.readOnly = readOnly;
  }

  async query(text: string, values: readonly WireValue[]): Promise<SqlRow[]> {
    const texts = values.map((value) => (value instanceof Uint8Array ? byteaText(value) : value));
    const [result] = await this.answered(1, async () => [
      await this.engine.pglite.query<SqlRow>(text, texts),
    ]);
    return result?.rows ?? [];
  }

  async exec(script: string): Promise<void> {
    // How many results a script should have is unknown, but not that its end has one.
    const results = await this.answered(undefined, () =>
      this.engine.pglite.exec(`${script}\n;${REACHED_END}`),
    );
    if (results.at(-1)?.rows[0]?.reached_end !== true) throw this.breakDown();
  }

  /** Runs a statement that must stand alone, such as VACUUM. */
  async run(statement: string): Promise<void> {
    await this.execute(1, statement);
  }

  async begin(): Promise<void> {
    await this.run(`BEGIN ISOLATION LEVEL ${this.readOnly ? 'REPEATABLE READ READ ONLY' : 'READ COMMITTED'}`);
  }

  async commit(): Promise<string> {
    if (this.readOnly) return commandOf(await this.execute(1, 'COMMIT'));
    const [committed, position] = await this.execute(2, `COMMIT; ${LOG_POSITION}`);
    this.committedAt = toLogPosition(position?.rows[0]);
    return commandOf([committed]);
  }

  async rollback(): Promise<void> {
    if (this.isBroken) return;
    try {
      await this.run('ROLLBACK');
    } catch {
      // The caller gets the failure that made us roll back; this one costs the engine, and no more.
      this.isBroken = true;
    }
  }

  async logPosition(): Promise<bigint> {
    return toLogPosition((await this.query(LOG_POSITION, []))[0]);
  }

  private execute(count: number, script: string): Promise<EngineResult[]> {
    return this.answered(count, () => this.engine.pglite.exec(script));
  }

  /**
   * Passes on what the engine answers, and notices when it has stopped answering: PGlite swallows traps, and
   * then a result is missing, or lacks the command tag that every executed statement has.
   */
  private async answered(
    count: number | undefined,
    ask: () => Promise<EngineResult[]>,
  ): Promise<EngineResult[]> {
    if (this.isBroken) throw brokenDown(this.engine.log);
    const results = await ask().catch((error: unknown) => {
      throw endsConnection(error) ? this.breakDown(error) : toStoreError(error);
    });
    const isComplete = results.every(({ command }) => command !== undefined);
    if (!isComplete || (count !== undefined && results.length !== count)) throw this.breakDown();
    return results;
  }

  private breakDown(cause?: unknown): PalimpsestError {
    this.isBroken = true;
    return brokenDown(this.engine.log, cause);
  }
}

interface EngineResult {
  readonly rows: SqlRow[];
  readonly command?: string;
}

const REACHED_END = 'SELECT true AS reached_end';
const LOG_POSITION = 'SELECT pg_current_wal_lsn() AS position';

function toLogPosition(row: SqlRow | undefined): bigint {
  return parseLogPosition(String(row?.position));
}

function commandOf(results: readonly (EngineResult | undefined)[]): string {
  return results[0]?.command ?? '';
}

function brokenDown(log: readonly string[], cause?: unknown): PalimpsestError {
  return new PalimpsestError(
    'store_unavailable',
    'The embedded database broke down in the middle of a statement.',
    {
      details: [
        {
          got: log.join('\n'),
          hint: 'What was acknowledged before is safe. The next call starts it again; if that fails too, look at the disk (space, rights, health).',
        },
      ],
      retryAfterSeconds: STORE_RETRY_SECONDS,
      cause,
    },
  );
}

function lostWithItsEngine(): PalimpsestError {
  return new PalimpsestError(
    'store_unavailable',
    'The database in memory broke down, and its data is lost.',
    {
      details: [{ hint: 'Restart this process; keep data that has to last in a directory.' }],
    },
  );
}

function closedAlready(): PalimpsestError {
  return new PalimpsestError('store_unavailable', 'The embedded database has been closed.');
}
