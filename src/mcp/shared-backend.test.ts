import { expect, test } from 'vitest';
import { rejection } from '../../test/helpers/refusal.ts';
import { PalimpsestError } from '../core/errors.ts';
import { createSharedBackend, type ReachedBackend } from './shared-backend.ts';
import type { ToolBackend } from './tool-backend.ts';

/** A way whose every call does the same. */
function way(name: string, call: () => Promise<never> | Promise<unknown>, closed: string[]): ReachedBackend {
  const backend = new Proxy({} as ToolBackend, { get: () => call });
  return {
    backend,
    close: async () => {
      closed.push(name);
    },
  };
}

const refused = () =>
  new PalimpsestError('server_unreachable', 'gone', {
    cause: new Error('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
  });
const brokenOff = () =>
  new PalimpsestError('server_unreachable', 'gone', {
    cause: new Error('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) }),
  });
const timedOut = () =>
  new PalimpsestError('server_unreachable', 'slow', { cause: new DOMException('slow', 'TimeoutError') });
const unknownSecret = () => new PalimpsestError('unauthenticated', 'who?');
const notThere = () => new PalimpsestError('not_found', 'no');

/** Reaches a way that fails, then one that answers. */
function failingOnce(error: () => Error) {
  const closed: string[] = [];
  let reached = 0;
  const shared = createSharedBackend(async () => {
    reached += 1;
    return reached === 1
      ? way('first', () => Promise.reject(error()), closed)
      : way('second', async () => 'answer', closed);
  });
  return { shared, closed, reached: () => reached };
}

test('the data is reached once, for all calls at once', async () => {
  let reached = 0;
  const shared = createSharedBackend(async () => {
    reached += 1;
    return way('only', async () => 'answer', []);
  });
  shared.warm();
  const answers = await Promise.all([1, 2, 3].map(() => shared.backend.get('x')));
  expect(answers).toEqual(['answer', 'answer', 'answer']);
  expect(reached).toBe(1);
});

test.each([
  ['nobody listens any more', refused],
  ['it breaks off', brokenOff],
  ['others hold the data now', unknownSecret],
])('where %s, the call is made once more by a new way', async (_, error) => {
  const { shared, closed, reached } = failingOnce(error);
  expect(await Promise.all([shared.backend.recall({}), shared.backend.list({})])).toEqual([
    'answer',
    'answer',
  ]);
  expect(reached()).toBe(2);
  expect(closed).toEqual(['first']);
});

test.each([
  ['a refusal', notThere, 'not_found'],
  ['slowness', timedOut, 'server_unreachable'],
] as const)('%s is the answer, not a reason to go elsewhere', async (_, error, code) => {
  const { shared, reached } = failingOnce(error);
  expect((await rejection(shared.backend.recall({}))).code).toBe(code);
  expect(reached()).toBe(1);
});

test('a supersession that may have happened is not tried again; one that nobody read is', async () => {
  const lost = failingOnce(brokenOff);
  expect((await rejection(lost.shared.backend.supersede('x', {}))).code).toBe('server_unreachable');
  const unread = failingOnce(refused);
  expect(await unread.shared.backend.supersede('x', {})).toBe('answer');
});

test('a data directory that could not be opened is tried again by the next call', async () => {
  let attempts = 0;
  const shared = createSharedBackend(async () => {
    attempts += 1;
    if (attempts === 1) throw new PalimpsestError('store_locked', 'taken');
    return way('later', async () => 'answer', []);
  });
  expect((await rejection(shared.backend.get('x'))).code).toBe('store_locked');
  expect(await shared.backend.get('x')).toBe('answer');
});

test('closing lets go of the data, also of a way that is still being opened, and ends all calls', async () => {
  const closed: string[] = [];
  let open: (reached: ReachedBackend) => void = () => {};
  const shared = createSharedBackend(
    () =>
      new Promise((resolve) => {
        open = resolve;
      }),
  );
  shared.warm();
  const closing = shared.close();
  open(way('late', async () => 'answer', closed));
  await closing;
  expect(closed).toEqual(['late']);
  expect((await rejection(shared.backend.get('x'))).code).toBe('store_unavailable');
});
