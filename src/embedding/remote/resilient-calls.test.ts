import { describe, expect, test } from 'vitest';
import { type CallFailure, EmbeddingCallError } from './call-error.ts';
import { type CallPolicy, type CallTools, DEFAULT_CALL_POLICY, resilientCalls } from './resilient-calls.ts';

/** A clock that only sleeping moves. */
function tools(random = 0.5) {
  const slept: number[] = [];
  const given: CallTools = {
    now: () => slept.reduce((sum, ms) => sum + ms, 0),
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      slept.push(ms);
    },
    random: () => random,
  };
  return { slept, given };
}

function caller(policy: Partial<CallPolicy> = {}, { given } = tools()) {
  return resilientCalls('m', { ...DEFAULT_CALL_POLICY, ...policy }, undefined, given);
}

const failing = (failure: CallFailure, retryAfterMs?: number) => async () => {
  throw new EmbeddingCallError(failure, `It failed: ${failure}.`, { retryAfterMs });
};
const DOCUMENTS = { purpose: 'document', texts: 1 } as const;
const QUERY = { purpose: 'query', texts: 1 } as const;

describe('waiting before a retry', () => {
  test('doubles, by a random share of the longest, up to the largest wait', async () => {
    const time = tools(0.5);
    const call = caller({ maxRetries: 5, backoffMs: 100, maxBackoffMs: 500, breakerThreshold: 99 }, time);
    await expect(call(DOCUMENTS, failing('server_error'))).rejects.toThrow('server_error');
    // Half of 100, 200, 400, and of 500 where 800 and 1,600 would be.
    expect(time.slept).toEqual([50, 100, 200, 250, 250]);
  });

  test('is what the service asks for, where it asks', async () => {
    const time = tools();
    await expect(caller({ maxRetries: 2 }, time)(DOCUMENTS, failing('server_error', 700))).rejects.toThrow();
    expect(time.slept).toEqual([700, 700]);
  });

  test('is not begun where patience ends before it', async () => {
    const time = tools();
    const call = caller({ queryPatienceMs: 1_000, patienceMs: 10_000, maxRetries: 1 }, time);
    await expect(call(QUERY, failing('server_error', 1_000))).rejects.toThrow();
    expect(time.slept).toEqual([]);
    await expect(call(DOCUMENTS, failing('server_error', 1_000))).rejects.toThrow();
    expect(time.slept).toEqual([1_000]);
  });

  test('is none where a fallback stands ready', async () => {
    const time = tools();
    const call = caller({ retryOutages: false, retryRateLimited: false }, time);
    for (const failure of ['timeout', 'unreachable', 'unreadable', 'server_error', 'rate_limited'] as const) {
      await expect(call(QUERY, failing(failure))).rejects.toMatchObject({ failure });
    }
    expect(time.slept).toEqual([]);
  });

  test('never follows a refused key, a refused request or a text that is too long', async () => {
    for (const failure of ['credentials', 'refused', 'too_long'] as const) {
      const time = tools();
      await expect(caller({}, time)(QUERY, failing(failure))).rejects.toMatchObject({ failure });
      expect(time.slept).toEqual([]);
    }
  });

  test('does not follow a fault of our own', async () => {
    const time = tools();
    const broken = async () => {
      throw new TypeError('a bug');
    };
    await expect(caller({}, time)(QUERY, broken)).rejects.toThrow('a bug');
    expect(time.slept).toEqual([]);
  });
});

describe('a pause after 429', () => {
  test('holds for every caller until it is over, then calls go on', async () => {
    const time = tools();
    const call = caller({ maxRetries: 0 }, time);
    await expect(call(QUERY, failing('rate_limited', 2_000))).rejects.toThrow();
    expect(await call(QUERY, async () => 'answered')).toBe('answered');
    expect(time.slept).toEqual([2_000]);
  });

  test('of five minutes at most, whatever the service says', async () => {
    const time = tools();
    const call = caller({ maxRetries: 0, queryPatienceMs: 1_000_000 }, time);
    await expect(call(QUERY, failing('rate_limited', 86_400_000))).rejects.toThrow();
    await call(QUERY, async () => 'answered');
    expect(time.slept).toEqual([300_000]);
  });

  test('does not renew itself by those it turns away', async () => {
    const time = tools();
    const call = caller({ maxRetries: 0, retryRateLimited: false }, time);
    await expect(call(QUERY, failing('rate_limited', 2_000))).rejects.toThrow();
    const turnedAway = async () => 'never called';
    await expect(call(QUERY, turnedAway)).rejects.toMatchObject({ retryAfterMs: 2_000 });
    time.slept.push(1_500);
    await expect(call(QUERY, turnedAway)).rejects.toMatchObject({ retryAfterMs: 500 });
    time.slept.push(500);
    expect(await call(QUERY, async () => 'answered')).toBe('answered');
  });
});

describe('limits', () => {
  test('one call at a time where so configured, and no query behind documents', async () => {
    const call = caller({ concurrency: 1 });
    const events: string[] = [];
    let finish = () => {};
    const first = call(DOCUMENTS, async () => {
      events.push('first');
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
    });
    const second = call(DOCUMENTS, async () => events.push('second'));
    await call(QUERY, async () => events.push('query'));
    expect(events).toEqual(['first', 'query']);
    finish();
    await Promise.all([first, second]);
    expect(events).toEqual(['first', 'query', 'second']);
  });

  test('an attempt that does not look at its signal ends in time all the same', async () => {
    const call = caller({ queryTimeoutMs: 20, maxRetries: 0 });
    await expect(call(QUERY, () => new Promise(() => {}))).rejects.toMatchObject({ failure: 'timeout' });
  });

  test('a call that only waits for its turn can be given up', async () => {
    const call = caller({ concurrency: 1 });
    const aborter = new AbortController();
    const never = call({ ...DOCUMENTS, signal: aborter.signal }, () => new Promise(() => {}));
    const queued = new AbortController();
    const waiting = call({ ...DOCUMENTS, signal: queued.signal }, async () => 'answered');
    queued.abort(new Error('gave up'));
    await expect(waiting).rejects.toThrow('gave up');
    aborter.abort(new Error('gave up too'));
    await expect(never).rejects.toThrow('gave up too');
  });

  test('patience ends everything, whatever one attempt may take', async () => {
    const call = caller({ patienceMs: 30, timeoutMs: 5_000 });
    await expect(call(DOCUMENTS, () => new Promise(() => {}))).rejects.toMatchObject({
      failure: 'timeout',
      message: expect.stringContaining('within 30 ms, retries and waiting included'),
    });
  });
});

describe('the circuit', () => {
  test('names what opened it, and is not opened by requests that were refused', async () => {
    const call = caller({ breakerThreshold: 2, maxRetries: 0 });
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await expect(call(QUERY, failing('refused'))).rejects.toMatchObject({ failure: 'refused' });
    }
    expect(await call(QUERY, async () => 'answered')).toBe('answered');
    await expect(call(QUERY, failing('timeout'))).rejects.toThrow('It failed: timeout.');
    await expect(call(QUERY, failing('unreachable'))).rejects.toThrow('It failed: unreachable.');
    await expect(call(QUERY, async () => 'never called')).rejects.toMatchObject({
      failure: 'unreachable',
      message: 'It failed: unreachable. It is not asked again for 15 s.',
    });
  });

  test('an answer between two failures starts the count again', async () => {
    const call = caller({ breakerThreshold: 2, maxRetries: 0 });
    for (let round = 0; round < 5; round += 1) {
      await expect(call(QUERY, failing('timeout'))).rejects.toThrow('It failed: timeout.');
      expect(await call(QUERY, async () => 'answered')).toBe('answered');
    }
  });
});
