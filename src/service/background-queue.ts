import { PalimpsestError } from '../core/errors.ts';

export interface BackgroundQueueOptions<Item> {
  /** Items that may wait; what comes beyond is dropped. */
  readonly limit: number;
  /** Items written together at most. */
  readonly batchSize: number;
  /** Milliseconds an item waits for others. */
  readonly delayMs: number;
  /** Items that may be written together have equal keys. */
  readonly keyOf: (item: Item) => string;
  /** Writes all of them or none. */
  readonly write: (items: readonly Item[]) => Promise<void>;
  /** Told how many items were lost, and why: `null` for want of room. */
  readonly onDrop: (count: number, cause: unknown) => void;
}

export interface QueueCounts {
  readonly waiting: number;
  readonly written: number;
  readonly dropped: number;
}

/** Takes items at once and writes them later, in batches, one batch at a time, in the order they came. */
export interface BackgroundQueue<Item> {
  /** Never waits and never throws. */
  add(item: Item): void;
  /** Resolves when everything added before is written, or lost. */
  flush(): Promise<void>;
  /** Flushes; what a failing database does not take within the time given is lost. Later items are lost too. */
  close(deadlineMs: number): Promise<void>;
  counts(): QueueCounts;
}

const LONGEST_PAUSE_MS = 10_000;

export function createBackgroundQueue<Item>(options: BackgroundQueueOptions<Item>): BackgroundQueue<Item> {
  return new BatchingQueue(options);
}

class BatchingQueue<Item> implements BackgroundQueue<Item> {
  private readonly options: BackgroundQueueOptions<Item>;
  private waiting: Item[] = [];
  private written = 0;
  private dropped = 0;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private isClosed = false;
  /** Attempts in a row that found no database. */
  private failures = 0;

  constructor(options: BackgroundQueueOptions<Item>) {
    this.options = options;
  }

  add(item: Item): void {
    if (this.isClosed || this.waiting.length >= this.options.limit) {
      this.drop(1, null);
      return;
    }
    this.waiting.push(item);
    this.schedule();
  }

  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.running ??= this.writeAll().finally(() => {
      this.running = undefined;
      if (this.waiting.length > 0) this.schedule();
    });
    await this.running;
  }

  async close(deadlineMs: number): Promise<void> {
    const deadline = performance.now() + deadlineMs;
    // A batch that was under way may end in a failure; each round tries once more.
    while (this.waiting.length > 0 || this.running !== undefined) {
      await this.flush();
      if (this.waiting.length === 0) break;
      if (performance.now() >= deadline) break;
      await pause(Math.min(this.pauseMs(), Math.max(0, deadline - performance.now())));
    }
    this.isClosed = true;
    clearTimeout(this.timer);
    const lost = this.waiting.length;
    this.waiting = [];
    if (lost > 0) this.drop(lost, new Error('The database did not take them before the end.'));
  }

  counts(): QueueCounts {
    return { waiting: this.waiting.length, written: this.written, dropped: this.dropped };
  }

  private schedule(): void {
    if (this.timer !== undefined || this.running !== undefined) return;
    this.timer = setTimeout(() => void this.flush(), this.pauseMs());
    // What waits is written by `close`; it is no reason to keep a process alive.
    this.timer.unref();
  }

  /** Longer and longer while there is no database. */
  private pauseMs(): number {
    return Math.min(LONGEST_PAUSE_MS, this.options.delayMs * 2 ** this.failures);
  }

  /** Writes until nothing waits or the database is gone. */
  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const left = await this.settle(this.takeBatch());
      if (left.length === 0) continue;
      this.failures += 1;
      this.waiting = [...left, ...this.waiting];
      return;
    }
  }

  /** Writes items or loses them; gives those that there was no database for. */
  private async settle(items: readonly Item[]): Promise<readonly Item[]> {
    try {
      await this.options.write(items);
      this.written += items.length;
      this.failures = 0;
      return [];
    } catch (error) {
      if (isPassing(error)) return items;
      if (items.length > 1) return this.settleEach(items);
      this.drop(items.length, error);
      return [];
    }
  }

  /** One of them is what the database never takes, and must not take the others with it. */
  private async settleEach(items: readonly Item[]): Promise<readonly Item[]> {
    for (const [place, item] of items.entries()) {
      const left = await this.settle([item]);
      if (left.length > 0) return items.slice(place);
    }
    return [];
  }

  /** The oldest item and the next ones with its key. */
  private takeBatch(): Item[] {
    const { batchSize, keyOf } = this.options;
    const [first] = this.waiting;
    if (first === undefined) return [];
    const key = keyOf(first);
    const batch: Item[] = [];
    this.waiting = this.waiting.filter((item) => {
      if (batch.length >= batchSize || keyOf(item) !== key) return true;
      batch.push(item);
      return false;
    });
    return batch;
  }

  private drop(count: number, cause: unknown): void {
    this.dropped += count;
    this.options.onDrop(count, cause);
  }
}

/** Whether the same write may succeed later. */
function isPassing(error: unknown): boolean {
  return PalimpsestError.isInstance(error) && error.code === 'store_unavailable';
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
