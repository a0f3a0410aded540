import { Worker } from 'node:worker_threads';
import { PalimpsestError } from '../../core/errors.ts';
import type { EmbeddingPurpose } from '../../core/ports.ts';
import type { EngineAnswer, EngineSpec } from './engine.ts';
import type { WorkerAnswer, WorkerRequest } from './worker.ts';

export interface WorkerClientOptions {
  /** Texts of one message, 1 or more. A query waits for one message at most, so a small number keeps it quick. */
  readonly textsPerMessage: number;
  /** Longest time for one message, the loading of the model included; then the thread is ended. */
  readonly timeoutMs: number;
  /** What the thread runs, default `worker.ts`. It speaks `WorkerRequest` and `WorkerAnswer`. */
  readonly entry?: URL | undefined;
}

/** The build turns .ts into .js everywhere but in this text. */
const DEFAULT_ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js',
  import.meta.url,
);

/** A model in a thread of its own. */
export interface WorkerClient {
  /** Queries go before documents. Rejects with the signal's reason when that is aborted. */
  embed(
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal: AbortSignal | undefined,
  ): Promise<EngineAnswer[]>;
  /** Ends the thread. What waits is rejected. */
  close(): Promise<void>;
}

interface Job {
  readonly texts: readonly string[];
  readonly answers: EngineAnswer[];
  readonly resolve: (answers: EngineAnswer[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Starts the thread with the first call and again after it died; the call it was busy with is rejected. While
 * nothing is asked of it, it does not keep the process alive.
 */
export function workerClient(spec: EngineSpec, options: WorkerClientOptions): WorkerClient {
  const waiting: Record<EmbeddingPurpose, Set<Job>> = { query: new Set(), document: new Set() };
  let worker: Worker | null = null;
  let busyWith: Job | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function start(): Worker {
    const started = new Worker(options.entry ?? DEFAULT_ENTRY, { workerData: spec });
    started.on('message', (answer: WorkerAnswer) => answered(started, answer));
    started.on('error', (error) =>
      lost(started, `The thread of the embedding model failed: ${error.message}`),
    );
    started.on('exit', (code) => lost(started, `The thread of the embedding model ended with code ${code}.`));
    return started;
  }

  /** The thread is gone: what it was busy with fails, the rest goes to a new one. */
  function lost(gone: Worker, message: string): void {
    if (gone !== worker) return;
    worker = null;
    const job = finishMessage();
    if (job !== null) settle(job, () => job.reject(new PalimpsestError('embedding_failed', message)));
    sendNext();
  }

  function sendNext(): void {
    if (busyWith !== null) return;
    const [job] = waiting.query.size > 0 ? waiting.query : waiting.document;
    if (job === undefined) {
      worker?.unref();
      return;
    }
    worker ??= start();
    worker.ref();
    busyWith = job;
    send(worker, job);
  }

  function send(target: Worker, job: Job): void {
    const done = job.answers.length;
    const request: WorkerRequest = { texts: job.texts.slice(done, done + options.textsPerMessage) };
    timer = setTimeout(() => {
      lost(
        target,
        `The embedding model gave no answer within ${options.timeoutMs} ms; its thread was ended.`,
      );
      void target.terminate();
    }, options.timeoutMs);
    target.postMessage(request);
  }

  function answered(by: Worker, answer: WorkerAnswer): void {
    if (by !== worker) return;
    const job = finishMessage();
    if (job !== null) take(job, answer);
    sendNext();
  }

  /** The job whose message is over. Its call may have been given up meanwhile. */
  function finishMessage(): Job | null {
    clearTimeout(timer);
    const job = busyWith;
    busyWith = null;
    return job;
  }

  function take(job: Job, answer: WorkerAnswer): void {
    if ('error' in answer) {
      const { code, message, details } = answer.error;
      settle(job, () => job.reject(new PalimpsestError(code, message, { details })));
      return;
    }
    job.answers.push(...answer.answers);
    if (job.answers.length >= job.texts.length) settle(job, () => job.resolve(job.answers));
  }

  function settle(job: Job, how: () => void): void {
    waiting.query.delete(job);
    waiting.document.delete(job);
    how();
  }

  return {
    embed(texts, purpose, signal) {
      if (texts.length === 0) return Promise.resolve([]);
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        if (isClosed) return reject(closedError());
        const job: Job = {
          texts,
          answers: [],
          resolve(answers) {
            signal?.removeEventListener('abort', abort);
            resolve(answers);
          },
          reject(error) {
            signal?.removeEventListener('abort', abort);
            reject(error);
          },
        };
        const abort = () => settle(job, () => job.reject(signal?.reason));
        signal?.addEventListener('abort', abort, { once: true });
        waiting[purpose].add(job);
        sendNext();
      });
    },
    async close() {
      isClosed = true;
      for (const job of [...waiting.query, ...waiting.document]) settle(job, () => job.reject(closedError()));
      finishMessage();
      const ended = worker;
      worker = null;
      await ended?.terminate();
    },
  };
}

function closedError(): PalimpsestError {
  return new PalimpsestError('embedding_failed', 'The embedding provider was closed.');
}
