import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type PalimpsestClient } from '../../src/client/index.ts';
import { PalimpsestError } from '../../src/core/errors.ts';

/** A question and the namespace it is asked in. */
export interface Question {
  readonly query: string;
  readonly namespace: string;
}

/** One recall that was answered. */
export interface Answered extends Question {
  readonly modelId: string | null;
  readonly exact: boolean;
  readonly degraded: boolean;
  readonly hits: readonly { readonly content: string; readonly similarity: number | null }[];
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface Traffic {
  readonly answered: readonly Answered[];
  /** Contents whose write was acknowledged. */
  readonly written: readonly string[];
  /** Errors that a server answered. */
  readonly failures: readonly string[];
  /** Requests that met no server, such as one that was just killed. */
  readonly unreached: () => number;
  /** Recalls that no server answered, however many were asked. */
  readonly unanswered: () => number;
  /** Recalls so far that another server had to answer. */
  readonly failedOver: () => number;
  stop(): Promise<void>;
}

export interface TrafficOptions {
  /** Servers that are up, as far as is known; asked anew for each request. */
  readonly servers: () => readonly string[];
  readonly questions: readonly Question[];
  /** Where the traffic's own entries go. */
  readonly writeTo: string;
  readonly profile: string;
  readonly topK: number;
  /** Between two recalls. */
  readonly pauseMs: number;
  /** Between two writes. */
  readonly writePauseMs: number;
}

/** Recalls and writes without end, each server in its turn; where one does not answer, the next is asked. */
export function startTraffic(options: TrafficOptions): Traffic {
  const answered: Answered[] = [];
  const written: string[] = [];
  const failures: string[] = [];
  const counts = { unreached: 0, unanswered: 0, failedOver: 0 };
  const clients = new Map<string, PalimpsestClient>();
  let isOver = false;
  let turn = 0;

  /** Undefined where no server answered. */
  async function ask<Answer>(
    call: (client: PalimpsestClient) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const urls = options.servers();
    turn += 1;
    for (let place = 0; place < urls.length; place += 1) {
      const url = urls[(turn + place) % urls.length] ?? '';
      const client = clients.get(url) ?? createClient({ baseUrl: url });
      clients.set(url, client);
      try {
        const answer = await call(client);
        if (place > 0) counts.failedOver += 1;
        return answer;
      } catch (error) {
        if (!PalimpsestError.isInstance(error)) throw error;
        if (error.code === 'server_unreachable') counts.unreached += 1;
        else {
          failures.push(`${error.code}: ${error.message}`);
          return undefined;
        }
      }
    }
    counts.unanswered += 1;
    return undefined;
  }

  async function recallOne(place: number): Promise<void> {
    const question = options.questions[place % options.questions.length];
    if (question === undefined) return;
    const { query, namespace } = question;
    const startedAt = Date.now();
    const answer = await ask((client) =>
      client.recall({ query, namespaces: [namespace], profile: options.profile, topK: options.topK }),
    );
    if (answer === undefined) return;
    const { embeddingModelId: modelId, exact, degraded } = answer;
    const hits = answer.hits.map(({ entry, similarity }) => ({ content: entry.content, similarity }));
    answered.push({ ...question, modelId, exact, degraded, hits, startedAt, endedAt: Date.now() });
  }

  async function writeOne(place: number): Promise<void> {
    const content = `Written while the model changes: note ${place} of ${Math.floor(Date.now() / 1000)}.`;
    const result = await ask((client) => client.remember({ namespace: options.writeTo, content }));
    if (result !== undefined) written.push(content);
  }

  const loop = async (step: (place: number) => Promise<void>, pauseMs: number) => {
    for (let place = 0; !isOver; place += 1) {
      await step(place);
      await sleep(pauseMs);
    }
  };
  const loops = Promise.all([loop(recallOne, options.pauseMs), loop(writeOne, options.writePauseMs)]);
  return {
    answered,
    written,
    failures,
    unreached: () => counts.unreached,
    unanswered: () => counts.unanswered,
    failedOver: () => counts.failedOver,
    async stop() {
      isOver = true;
      await loops;
    },
  };
}
