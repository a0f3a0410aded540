import type { SqlRow } from '../sql-database.ts';

/**
 * What a server's background processes do, and PGlite has none of: it never checkpoints before it is closed, and
 * never vacuums. Left alone, 1.6 GB of updates made 1.6 GB of write-ahead log, and recovery after a kill took
 * 13 seconds. docs/decisions/embedded-database.md has the measurements.
 */

/** Log written until it is folded into the tables. Recovery reads about 125 MB a second, so it stays near 0.5 s. */
const CHECKPOINT_AFTER_BYTES = 64 * 1024 * 1024;
/** Tables are looked at after so many writes, or so many bytes of log (a bulk import is few, large writes). */
const INSPECT_AFTER_WRITES = 200;
const INSPECT_AFTER_BYTES = 8 * 1024 * 1024;

/** The server's own rules and defaults: autovacuum_vacuum_threshold, …_scale_factor and their analyze twins. */
const TABLES_IN_NEED = `
  SELECT format('%I.%I', schemaname, relname) AS name, n_dead_tup > 50 + 0.2 * n_live_tup AS needs_vacuum
  FROM pg_stat_user_tables
  WHERE n_dead_tup > 50 + 0.2 * n_live_tup OR n_mod_since_analyze > 50 + 0.1 * n_live_tup
  ORDER BY name`;

/** Statements outside of a transaction. */
export interface Maintainable {
  query(text: string, values: readonly []): Promise<SqlRow[]>;
  run(statement: string): Promise<void>;
}

/** Counts what was written and does what has become due. */
export class Maintenance {
  private position = 0n;
  private checkpointAt = 0n;
  private inspectedAt = 0n;
  private writes = 0;

  /** Starts counting at the log position of an engine that has just checkpointed, as each does when it opens. */
  startAt(position: bigint): void {
    this.position = position;
    this.checkpointAt = position;
    this.inspectedAt = position;
    this.writes = 0;
  }

  /** Notes a committed write and the log position after it. */
  wrote(position: bigint): void {
    this.position = position;
    this.writes += 1;
  }

  get isDue(): boolean {
    return this.needsCheckpoint || this.needsInspection;
  }

  async run(engine: Maintainable): Promise<void> {
    if (this.needsInspection) await this.tendTables(engine);
    if (this.needsCheckpoint) await this.checkpoint(engine);
  }

  private get needsCheckpoint(): boolean {
    return this.position - this.checkpointAt >= BigInt(CHECKPOINT_AFTER_BYTES);
  }

  private get needsInspection(): boolean {
    return (
      this.writes >= INSPECT_AFTER_WRITES || this.position - this.inspectedAt >= BigInt(INSPECT_AFTER_BYTES)
    );
  }

  private async checkpoint(engine: Maintainable): Promise<void> {
    this.checkpointAt = this.position;
    await engine.run('CHECKPOINT');
  }

  private async tendTables(engine: Maintainable): Promise<void> {
    this.inspectedAt = this.position;
    this.writes = 0;
    // Counters are written out at most once a second otherwise, so a burst of writes would not be seen.
    await engine.query('SELECT pg_stat_force_next_flush()', []);
    for (const { name, needs_vacuum } of await engine.query(TABLES_IN_NEED, [])) {
      await engine.run(`${needs_vacuum === true ? 'VACUUM (ANALYZE)' : 'ANALYZE'} ${String(name)}`);
    }
  }
}

/** A `pg_lsn` such as `1/6795BEA8` as a number of bytes. */
export function parseLogPosition(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
