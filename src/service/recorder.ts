import type { GovernanceStore, NewAuditRecord, NewRefusal } from '../core/governance.ts';
import type { RecallTrace } from '../core/ranking/trace.ts';
import type { Access, JsonObject } from '../core/types.ts';
import { type BackgroundQueue, createBackgroundQueue, type QueueCounts } from './background-queue.ts';
import { atMostEvery, type ServiceLog } from './service-log.ts';
import { storedTrace } from './stored-trace.ts';

/** A read to write down: its audit record, and for a ranked read its trace. */
export interface ReadNote {
  readonly record: NewAuditRecord;
  readonly trace?: RecallTrace | undefined;
}

/**
 * Writes down reads and refusals behind the answers: never in their way, in batches, and with a bound on what
 * waits. What a slow database can't take is dropped, counted and logged.
 */
export interface Recorder {
  noteRead(access: Access, note: ReadNote): void;
  noteRefusal(access: Access, refusal: NewRefusal): void;
  /** Resolves when everything noted before is written, or lost. */
  flush(): Promise<void>;
  close(): Promise<void>;
  counts(): { readonly reads: QueueCounts; readonly refusals: QueueCounts };
}

export interface RecorderParts {
  readonly governance: GovernanceStore;
  /** A trace as it is kept: plain JSON in wire form. */
  readonly traceForm: (trace: RecallTrace) => JsonObject;
  readonly log: ServiceLog;
}

/** A second of reads at full load, about 10 MB of traces. */
const WAITING_READS = 1000;
/** Refusals are small and tell of attacks: more of them may wait. */
const WAITING_REFUSALS = 10_000;
/**
 * A batch shares one transaction; larger ones hold up an embedded database, which answers nobody meanwhile.
 * Measured by bench/trace-overhead.ts.
 */
const READS_A_BATCH = 16;
const REFUSALS_A_BATCH = 200;
const DELAY_MS = 200;
/** How long an ending process waits for a database that does not answer. */
const CLOSE_DEADLINE_MS = 5_000;
const LOG_EVERY_MS = 10_000;
const NO_ROOM = 'They came faster than the database takes them.';

export function createRecorder({ governance, traceForm, log }: RecorderParts): Recorder {
  const reads = queueOf<ReadNote>('reads', log, {
    limit: WAITING_READS,
    batchSize: READS_A_BATCH,
    write: (access, notes) =>
      governance.appendTraces(
        access,
        notes.flatMap(({ trace }) => (trace === undefined ? [] : storedTrace(access, trace, traceForm))),
        notes.map(({ record }) => record),
      ),
  });
  const refusals = queueOf<NewRefusal>('refusals', log, {
    limit: WAITING_REFUSALS,
    batchSize: REFUSALS_A_BATCH,
    write: (access, items) => governance.appendRefusals(access, items),
  });
  return {
    noteRead: (access, item) => reads.add({ access, item }),
    noteRefusal: (access, item) => refusals.add({ access, item }),
    async flush() {
      await Promise.all([reads.flush(), refusals.flush()]);
    },
    async close() {
      await Promise.all([reads.close(CLOSE_DEADLINE_MS), refusals.close(CLOSE_DEADLINE_MS)]);
    },
    counts: () => ({ reads: reads.counts(), refusals: refusals.counts() }),
  };
}

interface Noted<Item> {
  readonly access: Access;
  readonly item: Item;
}

function queueOf<Item>(
  what: string,
  log: ServiceLog,
  options: {
    readonly limit: number;
    readonly batchSize: number;
    readonly write: (access: Access, items: readonly Item[]) => Promise<void>;
  },
): BackgroundQueue<Noted<Item>> {
  let lastCause: unknown = null;
  const sayDropped = atMostEvery(
    LOG_EVERY_MS,
    () => performance.now(),
    (count) =>
      log.warn(`${what} were not written to the audit`, { what, count }, lastCause ?? new Error(NO_ROOM)),
  );
  return createBackgroundQueue<Noted<Item>>({
    limit: options.limit,
    batchSize: options.batchSize,
    delayMs: DELAY_MS,
    keyOf: ({ access: { principal } }) => JSON.stringify(principal),
    async write(noted) {
      const [first] = noted;
      if (first === undefined) return;
      await options.write(
        first.access,
        noted.map(({ item }) => item),
      );
    },
    onDrop(count, cause) {
      lastCause = cause;
      sayDropped(count);
    },
  });
}
