import type { GovernanceStore, Retention } from '../core/governance.ts';
import type { Clock } from '../core/ports.ts';
import type { ServiceLog } from './service-log.ts';

/** What upkeep removed. */
export interface UpkeepResult {
  readonly audit: number;
  readonly traces: number;
  readonly idempotency: number;
}

export interface UpkeepParts {
  readonly governance: GovernanceStore;
  readonly clock: Clock;
  readonly retention: Retention;
  readonly log: ServiceLog;
}

const DAY_MS = 86_400_000;
/** An answer is given again for a day: longer than any client goes on retrying. */
const IDEMPOTENCY_MS = DAY_MS;
const INTERVAL_MS = 3_600_000;
/** Some time after the start, so that starting costs nothing. */
const FIRST_MS = 60_000;

/** Removes, in every tenant, what its time has come for. */
export async function runUpkeep({ governance, clock, retention }: UpkeepParts): Promise<UpkeepResult> {
  const now = clock();
  const before = (days: number | null) => (days === null ? null : now - days * DAY_MS);
  const removed = { audit: 0, traces: 0, idempotency: 0 };
  for (const tenantId of await governance.tenantIds()) {
    const gone = await governance.expireRecords(tenantId, {
      audit: before(retention.auditDays),
      traces: before(retention.traceDays),
      idempotency: now - IDEMPOTENCY_MS,
    });
    removed.audit += gone.audit;
    removed.traces += gone.traces;
    removed.idempotency += gone.idempotency;
  }
  return removed;
}

/**
 * Runs upkeep about every hour, first after about a minute. The times are jittered, so that the servers of one
 * database don't all work at once; the timer keeps no process alive.
 *
 * @param random - In [0, 1), for the jitter.
 * @returns Ends it. A run under way is waited for.
 */
export function startUpkeep(parts: UpkeepParts, random: () => number = Math.random): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const schedule = (milliseconds: number) => {
    if (isStopped) return;
    timer = setTimeout(run, milliseconds * (0.75 + random() / 2));
    timer.unref();
  };
  const run = () => {
    running = runUpkeep(parts)
      .then(
        () => {},
        (error: unknown) => parts.log.warn('upkeep failed; it is tried again in an hour', {}, error),
      )
      .finally(() => schedule(INTERVAL_MS));
  };
  schedule(FIRST_MS);
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };
}
