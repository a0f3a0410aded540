import { setTimeout as sleep } from 'node:timers/promises';

/** What a server under load answered. */
export interface LoadReport {
  /** Contents of the writes that were answered with success. */
  readonly acknowledged: string[];
  /** Answers by `<operation> <status>`; requests without one as `<operation> lost`. */
  readonly answers: Map<string, number>;
  /** What no client should ever get, in words. */
  readonly faults: string[];
}

export interface MixedLoad {
  readonly report: LoadReport;
  /** Resolves as soon as the condition holds, looked at after each answer. */
  until(condition: () => boolean): Promise<void>;
  /** Counts how often an answer came so far, 0 for never. */
  count(answer: string): number;
  /** Lets the running requests end, and gives the report. */
  stop(): Promise<LoadReport>;
}

export interface MixedLoadOptions {
  readonly url: string;
  readonly namespace: string;
  /** Clients that write and recall in turn, each waiting for its answer. */
  readonly clients: number;
  /** Milliseconds an answer may take. */
  readonly timeLimitMs: number;
}

/** A pause after a request that failed, so that the load does not become a flood of refusals. */
const PAUSE_MS = 20;

/** Writes and recalls without end. A server that is gone loses requests; one that is there must answer each. */
export function startMixedLoad(options: MixedLoadOptions): MixedLoad {
  const report: LoadReport = { acknowledged: [], answers: new Map(), faults: [] };
  const count = (answer: string) => report.answers.get(answer) ?? 0;
  const waiting = new Set<() => void>();
  let isStopping = false;

  const note = (operation: string, response: Response | undefined, body: string) => {
    const answer = `${operation} ${response?.status ?? 'lost'}`;
    report.answers.set(answer, count(answer) + 1);
    const fault = response && faultOf(response, body);
    if (fault) report.faults.push(`${answer}: ${fault}`);
    for (const look of waiting) look();
  };

  const ask = async (operation: string, path: string, body: unknown): Promise<boolean> => {
    const begin = performance.now();
    let response: Response | undefined;
    let text = '';
    try {
      const answer = await fetch(`${options.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(options.timeLimitMs),
      });
      text = await answer.text();
      response = answer;
    } catch (error) {
      // The connection ended with the server: no answer, so nothing was acknowledged.
      if ((error as Error).name === 'TimeoutError') {
        report.faults.push(`${operation}: no answer after ${Math.round(performance.now() - begin)} ms`);
      }
    }
    note(operation, response, text);
    return response?.ok ?? false;
  };

  const client = async (number: number) => {
    for (let round = 0; !isStopping; round += 1) {
      const content = `client ${number} wrote text ${round}`;
      const isWritten = await ask('write', '/v1/memories', { namespace: options.namespace, content });
      if (isWritten) report.acknowledged.push(content);
      const isRead = await ask('recall', '/v1/memories/search', { query: content });
      if (!isWritten || !isRead) await sleep(PAUSE_MS);
    }
  };

  const clients = Array.from({ length: options.clients }, (_, number) => client(number));
  return {
    report,
    count,
    until: (condition) =>
      new Promise((resolve) => {
        const look = () => {
          if (!condition()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async stop() {
      isStopping = true;
      await Promise.all(clients);
      return report;
    },
  };
}

/** A database that is away makes a 503 which says when to ask again, and nothing else. */
function faultOf(response: Response, body: string): string | undefined {
  if (response.ok) return undefined;
  if (response.status !== 503) return body;
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  if (!(retryAfter >= 1)) return `retry-after is ${response.headers.get('retry-after')}: ${body}`;
  return body.includes('"store_unavailable"') ? undefined : body;
}
