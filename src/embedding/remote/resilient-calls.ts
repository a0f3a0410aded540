import { setTimeout as pause } from 'node:timers/promises';
import {
  bulkhead,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  type IBreaker,
  isBrokenCircuitError,
} from 'cockatiel';
import { MAX_SERVICE_PAUSE_MS } from '../../core/defaults.ts';
import type { EmbeddingPurpose } from '../../core/ports.ts';
import type { EmbeddingObserver } from '../events.ts';
import { type CallFailure, EmbeddingCallError, isOutage } from './call-error.ts';

/** How long and how often a service is asked. Times are milliseconds. */
export interface CallPolicy {
  /** One attempt for documents, default 20,000: a large batch on a slow CPU service takes seconds. */
  readonly timeoutMs: number;
  /** One attempt for a query, default 5,000: somebody waits for it. */
  readonly queryTimeoutMs: number;
  /** Everything for documents, waits and retries with it, default 60,000. A wait that would end later is not begun. */
  readonly patienceMs: number;
  /** Everything for a query, default 10,000. */
  readonly queryPatienceMs: number;
  /** Attempts after the first, 0 or more, default 3. */
  readonly maxRetries: number;
  /** Longest wait before the first retry, default 250; doubles with each. The wait is drawn from 0 to it. */
  readonly backoffMs: number;
  /** Longest wait before any retry that the service did not ask for, default 8,000. */
  readonly maxBackoffMs: number;
  /** Attempts under way at once, 1 or more, default 4; as many again for queries, which never queue behind documents. */
  readonly concurrency: number;
  /** Outages in a row after which the service is left alone, 1 or more, default 5. */
  readonly breakerThreshold: number;
  /** How long it is left alone before one attempt probes it, default 15,000. */
  readonly breakerOpenMs: number;
  /** Default true. False fails at once after a 429, so that a fallback can answer. */
  readonly retryRateLimited: boolean;
  /** Default true. False fails at once after an outage (5xx, timeout, no connection). */
  readonly retryOutages: boolean;
}

export const DEFAULT_CALL_POLICY: CallPolicy = {
  timeoutMs: 20_000,
  queryTimeoutMs: 5_000,
  patienceMs: 60_000,
  queryPatienceMs: 10_000,
  maxRetries: 3,
  backoffMs: 250,
  maxBackoffMs: 8_000,
  concurrency: 4,
  breakerThreshold: 5,
  breakerOpenMs: 15_000,
  retryRateLimited: true,
  retryOutages: true,
};

/** Time and chance, so that tests bring their own. */
export interface CallTools {
  readonly now: () => number;
  /** Rejects when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** In [0, 1). */
  readonly random: () => number;
}

const SYSTEM_TOOLS: CallTools = {
  now: Date.now,
  sleep: (ms, signal) => pause(ms, undefined, { signal }),
  random: Math.random,
};

export interface CallOptions {
  readonly purpose: EmbeddingPurpose;
  /** How many texts the call is for: told to the observer. */
  readonly texts: number;
  readonly signal?: AbortSignal | undefined;
}

/** Runs one attempt or several. The attempt is given a signal that ends it in time. */
export type ResilientCall = <T>(
  options: CallOptions,
  attempt: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/**
 * Calls to one service that hold: a limit on how many run at once, a time limit for each, retries with full
 * jitter (Brooker 2015, "Exponential Backoff And Jitter") that honour `Retry-After`, and a circuit breaker.
 *
 * - 429 stops all calls for as long as the service asks, so that many callers don't each ask again.
 * - Outages in a row open the circuit: calls fail at once until a single probe has succeeded.
 * - 401 and 403 open it at once: the next call has the same key. They are never retried, nor is 400 or 404.
 *
 * The breaker and the limits are cockatiel's. Its retry is not used: it sleeps on after a call is cancelled, with a
 * timer that keeps the process alive, and reads no clock of ours.
 */
export function resilientCalls(
  modelId: string,
  policy: CallPolicy,
  observe: EmbeddingObserver = () => undefined,
  tools: CallTools = SYSTEM_TOOLS,
): ResilientCall {
  const slots = {
    document: bulkhead(policy.concurrency, Number.POSITIVE_INFINITY),
    query: bulkhead(policy.concurrency, Number.POSITIVE_INFINITY),
  };
  const breaker = breakerOf(modelId, policy, observe, tools);
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let pauseReason = '';

  return async function call(options, attempt) {
    const startedAt = tools.now();
    try {
      return await callPatiently(options, attempt);
    } catch (error) {
      if (error instanceof EmbeddingCallError && options.signal?.aborted !== true) {
        const { purpose } = options;
        const durationMs = tools.now() - startedAt;
        observe({ kind: 'failed', modelId, purpose, failure: error.failure, durationMs });
      }
      throw error;
    }
  };

  async function callPatiently<T>(
    { purpose, texts, signal }: CallOptions,
    attempt: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limits = limitsOf(policy, purpose);
    const startedAt = tools.now();
    const deadline = startedAt + limits.patienceMs;
    const patience = AbortSignal.timeout(limits.patienceMs);
    const end = signal === undefined ? patience : AbortSignal.any([signal, patience]);
    for (let retries = 0; ; retries += 1) {
      try {
        await waitForPause(deadline, end);
        const answer = slots[purpose].execute(
          () => breaker(() => notingPauses(timed(limits.timeoutMs, end, attempt))),
          end,
        );
        // A slot that is waited for notices no signal of its own.
        const result = await untilAborted(answer, end);
        observe({ kind: 'answered', modelId, purpose, texts, durationMs: tools.now() - startedAt });
        return result;
      } catch (error) {
        signal?.throwIfAborted();
        const failure = patience.aborted ? patienceError(limits.patienceMs, error) : error;
        const waitMs = waitBeforeRetry(failure, retries, deadline);
        if (waitMs === null) throw failure;
        observeRetry(failure, retries + 1, waitMs);
        await sleepUntilEnd(waitMs, end, signal, failure);
      }
    }
  }

  async function waitForPause(deadline: number, end: AbortSignal): Promise<void> {
    const rest = pausedUntil - tools.now();
    if (rest <= 0) return;
    if (!policy.retryRateLimited || tools.now() + rest >= deadline) throw pausedError(rest);
    await tools.sleep(rest, end);
  }

  async function notingPauses<T>(attempt: Promise<T>): Promise<T> {
    try {
      return await attempt;
    } catch (error) {
      if (error instanceof EmbeddingCallError && error.failure === 'rate_limited') notePause(error);
      throw error;
    }
  }

  /** Milliseconds until the next attempt, or null where there is none. */
  function waitBeforeRetry(error: unknown, retries: number, deadline: number): number | null {
    if (!(error instanceof EmbeddingCallError)) return null;
    const waitMs = error.retryAfterMs ?? jitter(retries);
    const isWanted = error.failure === 'rate_limited' ? policy.retryRateLimited : policy.retryOutages;
    const isPossible = error.mayBeRetried && retries < policy.maxRetries && tools.now() + waitMs < deadline;
    return isWanted && isPossible ? waitMs : null;
  }

  function notePause(error: EmbeddingCallError): void {
    // A used-up quota is looked at again as seldom as a broken service.
    const asked = error.mayBeRetried ? (error.retryAfterMs ?? policy.backoffMs) : policy.breakerOpenMs;
    const until = tools.now() + Math.min(asked, MAX_SERVICE_PAUSE_MS);
    if (until <= pausedUntil) return;
    pausedUntil = until;
    pauseReason = error.message;
  }

  function pausedError(restMs: number): EmbeddingCallError {
    return new EmbeddingCallError(
      'rate_limited',
      `${pauseReason} It is not asked again for ${seconds(restMs)}.`,
      {
        mayBeRetried: false,
        retryAfterMs: restMs,
      },
    );
  }

  function jitter(retries: number): number {
    return tools.random() * Math.min(policy.maxBackoffMs, policy.backoffMs * 2 ** retries);
  }

  function observeRetry(error: unknown, retry: number, waitMs: number): void {
    if (!(error instanceof EmbeddingCallError)) return;
    observe({ kind: 'retry', modelId, failure: error.failure, retry, waitMs, message: error.message });
  }

  async function sleepUntilEnd(
    waitMs: number,
    end: AbortSignal,
    signal: AbortSignal | undefined,
    failure: unknown,
  ): Promise<void> {
    try {
      await tools.sleep(waitMs, end);
    } catch (error) {
      signal?.throwIfAborted();
      throw end.aborted ? failure : error;
    }
  }
}

function limitsOf(policy: CallPolicy, purpose: EmbeddingPurpose) {
  return purpose === 'query'
    ? { timeoutMs: policy.queryTimeoutMs, patienceMs: policy.queryPatienceMs }
    : { timeoutMs: policy.timeoutMs, patienceMs: policy.patienceMs };
}

/** One attempt that ends in time even if it does not look at its signal. */
async function timed<T>(
  timeoutMs: number,
  end: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([end, timeout]);
  try {
    return await untilAborted(attempt(signal), signal);
  } catch (error) {
    if (end.aborted || !timeout.aborted) throw error;
    throw new EmbeddingCallError(
      'timeout',
      `The embedding service did not answer within ${seconds(timeoutMs)}.`,
    );
  }
}

/** Resolves as the promise does, or rejects with the signal's reason, whichever is first. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function patienceError(patienceMs: number, error: unknown): EmbeddingCallError {
  if (error instanceof EmbeddingCallError) return error;
  return new EmbeddingCallError(
    'timeout',
    `The embedding service gave no answer within ${seconds(patienceMs)}, retries and waiting included.`,
    { mayBeRetried: false },
  );
}

/** Runs a function unless the circuit is open. */
type Breaker = <T>(work: () => Promise<T>) => Promise<T>;

function breakerOf(
  modelId: string,
  policy: CallPolicy,
  observe: EmbeddingObserver,
  tools: CallTools,
): Breaker {
  let last: EmbeddingCallError | undefined;
  let openedAt = 0;
  const breaker = circuitBreaker(
    handleWhen((error) => error instanceof EmbeddingCallError && opensCircuit(error.failure)),
    {
      breaker: opensAtOnceFor(() => last?.failure === 'credentials', policy.breakerThreshold),
      halfOpenAfter: policy.breakerOpenMs,
    },
  );
  breaker.onBreak(() => {
    openedAt = tools.now();
    observe({ kind: 'circuit_open', modelId, message: last?.message ?? '' });
  });
  breaker.onReset(() => observe({ kind: 'circuit_closed', modelId }));

  const openError = () => {
    const restMs = Math.max(0, openedAt + policy.breakerOpenMs - tools.now());
    return new EmbeddingCallError(
      last?.failure ?? 'unreachable',
      `${last?.message ?? 'The embedding service failed.'} It is not asked again for ${seconds(restMs)}.`,
      { mayBeRetried: false, retryAfterMs: restMs },
    );
  };

  return async (work) => {
    // cockatiel would let these wait for the probe, for as long as a hanging service makes it wait.
    if (breaker.state === CircuitState.HalfOpen) throw openError();
    try {
      return await breaker.execute(async () => {
        try {
          return await work();
        } catch (error) {
          if (error instanceof EmbeddingCallError && opensCircuit(error.failure)) last = error;
          throw error;
        }
      });
    } catch (error) {
      throw isBrokenCircuitError(error) ? openError() : error;
    }
  };
}

function opensCircuit(failure: CallFailure): boolean {
  return failure === 'credentials' || isOutage(failure);
}

/** Opens after `threshold` failures in a row, or after one that settles the matter. */
function opensAtOnceFor(isSettled: () => boolean, threshold: number): IBreaker {
  const inARow = new ConsecutiveBreaker(threshold);
  return {
    get state() {
      return inARow.state;
    },
    success: () => inARow.success(),
    failure: () => inARow.failure() || isSettled(),
  };
}

function seconds(ms: number): string {
  return ms < 1000 ? `${Math.ceil(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}
