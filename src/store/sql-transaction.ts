import { AsyncLocalStorage } from 'node:async_hooks';
import { PalimpsestError } from '../core/errors.ts';
import type { SqlDatabase, SqlRow, SqlStatement, SqlTransaction } from './sql-database.ts';
import { toWireValues, type WireValue } from './sql-values.ts';

/**
 * The life of one transaction, the same for both drivers. A driver brings the connection; everything that
 * could be forgotten in one of two copies is here.
 */

/** One connection to a database, as a driver provides it. Rejections went through `toStoreError`. */
export interface SqlConnection {
  query(text: string, values: readonly WireValue[]): Promise<SqlRow[]>;
  exec(script: string): Promise<void>;
  begin(): Promise<void>;
  /** Command tag of what happened: `COMMIT`, or `ROLLBACK` for a transaction in which a statement failed. */
  commit(): Promise<string>;
  /** Never rejects: a connection on which it fails is not used again. */
  rollback(): Promise<void>;
}

const running = new AsyncLocalStorage<OpenTransaction>();

/**
 * Runs `work` in a transaction on this connection and commits, or rolls back and rejects with what `work`
 * rejected with. `work` gets no statement through before the transaction has begun: sent ahead, to save the
 * round trip, it would run outside of any transaction, and so of row-level security, should BEGIN be cancelled.
 */
export async function runTransaction<T>(
  database: SqlDatabase,
  connection: SqlConnection,
  work: (tx: SqlTransaction) => Promise<T>,
): Promise<T> {
  await connection.begin();
  const tx = new OpenTransaction(database, connection, running.getStore());
  try {
    const result = await running.run(tx, work, tx);
    await tx.finish();
    const tag = await connection.commit();
    if (tag !== 'COMMIT') throw rolledBackInstead();
    return result;
  } catch (error) {
    await tx.finish();
    await connection.rollback();
    throw error;
  }
}

/**
 * Refuses a transaction inside the work of another one of the same database. On PGlite, and on a pool that is
 * used up, it would wait for the outer one for ever; elsewhere it would see another state than the outer one.
 */
export function refuseNested(database: SqlDatabase): void {
  for (let tx = running.getStore(); tx !== undefined; tx = tx.outer) {
    if (tx.isOpen && tx.database === database) {
      throw new PalimpsestError('internal', 'A transaction was started inside the work of another one.', {
        details: [{ hint: 'Pass the outer transaction on, or finish it first.' }],
      });
    }
  }
}

function rolledBackInstead(): PalimpsestError {
  return new PalimpsestError('internal', 'The transaction was rolled back: a statement of it had failed.', {
    details: [
      { hint: 'Let the failure of a statement reject the work, or put the statement behind a savepoint.' },
    ],
  });
}

/** Sends statements one after another, also those that were started together, until the transaction ends. */
class OpenTransaction implements SqlTransaction {
  isOpen = true;
  readonly database: SqlDatabase;
  /** The transaction, of another database, whose work this one runs in. */
  readonly outer: OpenTransaction | undefined;
  private readonly connection: SqlConnection;
  private last: Promise<unknown> = Promise.resolve();

  constructor(database: SqlDatabase, connection: SqlConnection, outer: OpenTransaction | undefined) {
    this.database = database;
    this.connection = connection;
    this.outer = outer;
  }

  query<Row extends SqlRow = SqlRow>({ text, values }: SqlStatement): Promise<Row[]> {
    return this.next(() => this.connection.query(text, toWireValues(values)) as Promise<Row[]>);
  }

  exec(script: string): Promise<void> {
    return this.next(() => this.connection.exec(script));
  }

  /** Takes no more statements, and waits for those that `work` started and did not wait for. */
  async finish(): Promise<void> {
    this.isOpen = false;
    await this.last;
  }

  private next<T>(send: () => Promise<T>): Promise<T> {
    if (!this.isOpen) {
      return Promise.reject(
        new PalimpsestError('internal', 'A statement was sent to a transaction that is over.', {
          details: [{ hint: 'Wait for every statement before the work of a transaction returns.' }],
        }),
      );
    }
    const sent = this.last.then(send);
    // Only to wait for its end: whoever started the statement gets its failure.
    this.last = sent.catch(() => undefined);
    return sent;
  }
}
