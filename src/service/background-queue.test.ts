import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PalimpsestError } from '../core/errors.ts';
import { createBackgroundQueue } from './background-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const UNAVAILABLE = new PalimpsestError('store_unavailable', 'The connection to the database failed.');

interface Item {
  readonly key: string;
  readonly value: number;
}

/** A queue that writes into a list, and fails as long as it is told to. */
function queueOf(options: { limit?: number; batchSize?: number; delayMs?: number } = {}) {
  const written: number[][] = [];
  const drops: { count: number; cause: unknown }[] = [];
  const state: { failure: unknown; fails: (value: number) => boolean } = { failure: null, fails: () => true };
  const queue = createBackgroundQueue<Item>({
    limit: 100,
    batchSize: 3,
    delayMs: 200,
    ...options,
    keyOf: ({ key }) => key,
    async write(items) {
      if (state.failure !== null && items.some(({ value }) => state.fails(value))) throw state.failure;
      written.push(items.map(({ value }) => value));
    },
    onDrop: (count, cause) => drops.push({ count, cause }),
  });
  const add = (...values: number[]) => {
    for (const value of values) queue.add({ key: 'k', value });
  };
  return { queue, add, written, drops, state };
}

test('items wait a moment for others and are written together, in batches, in their order', async () => {
  const { queue, add, written } = queueOf();
  add(1, 2, 3, 4);
  await vi.advanceTimersByTimeAsync(199);
  expect(written).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(written).toEqual([[1, 2, 3], [4]]);
  expect(queue.counts()).toEqual({ waiting: 0, written: 4, dropped: 0 });
});

test('only items of one key are written together', async () => {
  const { queue, written } = queueOf();
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
  ] as const) {
    queue.add({ key, value });
  }
  await queue.flush();
  expect(written).toEqual([[1, 3], [2]]);
});

test('adding never waits and never throws: beyond the limit items are dropped and counted', async () => {
  const { queue, add, written, drops } = queueOf({ limit: 2 });
  add(1, 2, 3, 4);
  expect(drops).toEqual([
    { count: 1, cause: null },
    { count: 1, cause: null },
  ]);
  await queue.flush();
  expect(written).toEqual([[1, 2]]);
  add(5);
  await queue.flush();
  expect(written).toEqual([[1, 2], [5]]);
  expect(queue.counts()).toEqual({ waiting: 0, written: 3, dropped: 2 });
});

test('a database that is down is tried again, less and less often, and nothing is lost or changes places', async () => {
  const { queue, add, written, state, drops } = queueOf({ batchSize: 2 });
  state.failure = UNAVAILABLE;
  add(1, 2, 3);
  // Tries after 200, then 400 and 800 ms more.
  await vi.advanceTimersByTimeAsync(200 + 400 + 799);
  expect(written).toEqual([]);
  state.failure = null;
  await vi.advanceTimersByTimeAsync(1);
  expect(written).toEqual([[1, 2], [3]]);
  expect(drops).toEqual([]);
  expect(queue.counts().written).toBe(3);
});

test('what the database refuses for good is dropped, and does not hold up what comes after', async () => {
  const { queue, add, written, state, drops } = queueOf({ batchSize: 1 });
  const refusal = new Error('a character it can not store');
  state.failure = refusal;
  add(1);
  await queue.flush();
  state.failure = null;
  add(2);
  await queue.flush();
  expect(drops).toEqual([{ count: 1, cause: refusal }]);
  expect(written).toEqual([[2]]);
});

test('what the database refuses for good takes nothing of its batch with it', async () => {
  const { queue, add, written, state, drops } = queueOf();
  const refusal = new Error('a character it can not store');
  state.failure = refusal;
  state.fails = (value) => value === 2;
  add(1, 2, 3);
  await queue.flush();
  expect(written).toEqual([[1], [3]]);
  expect(drops).toEqual([{ count: 1, cause: refusal }]);
});

test('one batch is written at a time', async () => {
  let running = 0;
  let most = 0;
  const queue = createBackgroundQueue<Item>({
    limit: 100,
    batchSize: 1,
    delayMs: 10,
    keyOf: ({ key }) => key,
    async write() {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
    },
    onDrop: () => {},
  });
  for (let value = 0; value < 5; value += 1) queue.add({ key: 'k', value });
  await Promise.all([queue.flush(), queue.flush(), vi.advanceTimersByTimeAsync(100)]);
  expect(queue.counts().written).toBe(5);
  expect(most).toBe(1);
});

test('closing writes what waits; what comes later is lost and counted', async () => {
  const { queue, add, written, drops } = queueOf();
  add(1, 2);
  await queue.close(1000);
  expect(written).toEqual([[1, 2]]);
  add(3);
  expect(drops).toEqual([{ count: 1, cause: null }]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(written).toEqual([[1, 2]]);
});

test('closing waits for a database that comes back in time', async () => {
  const { queue, add, written, state } = queueOf();
  state.failure = UNAVAILABLE;
  add(1);
  const closed = queue.close(5000);
  await vi.advanceTimersByTimeAsync(1000);
  state.failure = null;
  await vi.advanceTimersByTimeAsync(5000);
  await closed;
  expect(written).toEqual([[1]]);
});

test('closing gives up on a database that does not come back, and says what is lost', async () => {
  const { queue, add, state, drops } = queueOf();
  state.failure = UNAVAILABLE;
  add(1, 2);
  const closed = queue.close(5000);
  await vi.advanceTimersByTimeAsync(20_000);
  await closed;
  expect(drops).toEqual([{ count: 2, cause: expect.any(Error) }]);
  expect(queue.counts()).toEqual({ waiting: 0, written: 0, dropped: 2 });
});
