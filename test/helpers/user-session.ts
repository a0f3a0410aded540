import { execFile, spawnSync } from 'node:child_process';
import { createClient, PalimpsestError } from '../../src/client/index.ts';

/** What an answer came to: `ok`, or the error's code. */
export interface Outcome<T> {
  readonly code: string;
  readonly value: T | undefined;
}

export interface ShownMemory {
  readonly id: string;
  readonly content: string;
}

/** One user at a server, whatever they ask it with. */
export interface UserSession {
  remember(namespace: string, content: string, agent?: string): Promise<Outcome<ShownMemory>>;
  recall(
    query: string,
    options?: { namespaces?: string[]; agent?: string },
  ): Promise<Outcome<{ contents: string[]; traceId: string }>>;
  list(options: {
    namespace?: string;
    tag?: string;
    cursor?: string;
  }): Promise<Outcome<{ contents: string[]; cursor: string | null }>>;
  get(id: string): Promise<Outcome<ShownMemory>>;
  history(id: string): Promise<Outcome<unknown>>;
  forget(id: string): Promise<Outcome<unknown>>;
  trace(id: string): Promise<Outcome<unknown>>;
  feedback(memoryId: string, traceId: string): Promise<Outcome<unknown>>;
  /** Makes a key; gives its secret. */
  makeKey(userId: string): Promise<Outcome<string>>;
  /** Lets the agent `helper` read what is everybody's, and write it. */
  shareWithHelper(): Promise<Outcome<unknown>>;
  /** Refusals of a user, oldest first: what was asked, about which entry or namespace. */
  warningsOf(userId: string): Promise<Outcome<Warning[]>>;
}

export interface Warning {
  readonly operation: string | null;
  readonly memoryId: string | null;
  readonly namespace: string | null;
  readonly traceId: unknown;
}

const SHARED = 'vector.global.facts';
const HELPER_READS = ['vector.user.${user_id}.*', 'vector.global.*'];
const USER_SCOPES = ['read', 'write', 'feedback'] as const;

/** Why curl can't be asked; undefined where it can. */
export const NO_CURL =
  spawnSync('curl', ['--version']).status === 0 ? undefined : 'curl is not installed on this machine';

interface WireHit {
  readonly entry: ShownMemory;
}

interface WireRecord {
  readonly operation: string | null;
  readonly memory_id: string | null;
  readonly namespace: string | null;
  readonly detail: { readonly trace_id?: string };
}

/** With curl, as the documentation shows it. */
export function curlSession(url: string, key: string): UserSession {
  const ask = <T>(method: string, path: string, body?: unknown, agent?: string) =>
    curl<T>([
      ...['--request', method, `${url}${path}`, '--header', `authorization: Bearer ${key}`],
      ...(agent === undefined ? [] : ['--header', `palimpsest-agent-id: ${agent}`]),
      ...(body === undefined
        ? []
        : ['--header', 'content-type: application/json', '--data-raw', JSON.stringify(body)]),
    ]);
  return {
    remember: async (namespace, content, agent) => {
      const body = { namespace, content, tags: ['plain'] };
      return mapped(await ask<WireHit>('POST', '/v1/memories', body, agent), ({ entry }) => entry);
    },
    recall: async (query, { namespaces, agent } = {}) =>
      mapped(
        await ask<{ hits: WireHit[]; trace_id: string }>(
          'POST',
          '/v1/memories/search',
          { query, namespaces, min_score: 0 },
          agent,
        ),
        ({ hits, trace_id }) => ({ contents: hits.map(({ entry }) => entry.content), traceId: trace_id }),
      ),
    list: async ({ namespace, tag, cursor }) => {
      const query = new URLSearchParams({
        limit: '1',
        ...(namespace !== undefined && { namespace }),
        ...(tag !== undefined && { tag }),
        ...(cursor !== undefined && { cursor }),
      });
      return mapped(
        await ask<{ entries: ShownMemory[]; next_cursor: string | null }>('GET', `/v1/memories?${query}`),
        ({ entries, next_cursor }) => ({
          contents: entries.map(({ content }) => content),
          cursor: next_cursor,
        }),
      );
    },
    get: (id) => ask('GET', `/v1/memories/${id}`),
    history: (id) => ask('GET', `/v1/memories/${id}/history`),
    forget: (id) => ask('DELETE', `/v1/memories/${id}`),
    trace: (id) => ask('GET', `/v1/traces/${id}`),
    feedback: (memoryId, traceId) =>
      ask('POST', '/v1/feedback', { memory_id: memoryId, trace_id: traceId, signal: 'useful' }),
    makeKey: async (userId) => {
      const body = { user_id: userId, name: `of ${userId}`, scopes: USER_SCOPES };
      return mapped(await ask<{ secret: string }>('POST', '/v1/keys', body), ({ secret }) => secret);
    },
    shareWithHelper: () =>
      ask('PUT', '/v1/agents/helper/policy', {
        read_namespaces: HELPER_READS,
        allowed_write_namespaces: [SHARED],
      }),
    warningsOf: async (userId) =>
      mapped(
        await ask<{ records: WireRecord[] }>('GET', `/v1/audit?action=warning&actor_id=${userId}&limit=200`),
        ({ records }) =>
          records.toReversed().map(({ operation, memory_id, namespace, detail }) => ({
            operation,
            memoryId: memory_id,
            namespace,
            traceId: detail.trace_id ?? null,
          })),
      ),
  };
}

/** One request: the body that curl prints, and behind it the status. */
function curl<T>(args: readonly string[]): Promise<Outcome<T>> {
  return new Promise((resolve, reject) => {
    execFile('curl', ['--silent', '--write-out', '\n%{http_code}', ...args], (error, stdout) => {
      if (error !== null) return reject(error);
      const end = stdout.lastIndexOf('\n');
      const [body, status] = [stdout.slice(0, end), Number(stdout.slice(end + 1))];
      const answer = body === '' ? undefined : JSON.parse(body);
      resolve(status < 300 ? { code: 'ok', value: answer } : { code: answer.error.code, value: undefined });
    });
  });
}

function mapped<Wire, T>({ code, value }: Outcome<Wire>, read: (value: Wire) => T): Outcome<T> {
  return { code, value: value === undefined ? undefined : read(value) };
}

/** With the typed client. */
export function clientSession(baseUrl: string, apiKey: string): UserSession {
  const client = createClient({ baseUrl, apiKey });
  const asAgent = (agentId?: string) => (agentId === undefined ? client : client.for({ agentId }));
  return {
    remember: (namespace, content, agent) =>
      outcome(async () => (await asAgent(agent).remember({ namespace, content, tags: ['plain'] })).entry),
    recall: (query, { namespaces, agent } = {}) =>
      outcome(async () => {
        const { hits, traceId } = await asAgent(agent).recall({ query, namespaces, minScore: 0 });
        return { contents: hits.map(({ entry }) => entry.content), traceId };
      }),
    list: ({ namespace, tag, cursor }) =>
      outcome(async () => {
        const page = await client.list({
          limit: 1,
          cursor,
          namespaces: namespace === undefined ? undefined : [namespace],
          filter: tag === undefined ? undefined : { tags: { all: [tag] } },
        });
        return { contents: page.entries.map(({ content }) => content), cursor: page.nextCursor };
      }),
    get: (id) => outcome(() => client.get(id)),
    history: (id) => outcome(() => client.history(id)),
    forget: (id) => outcome(() => client.forget(id)),
    trace: (id) => outcome(() => client.traces.get(id)),
    feedback: (memoryId, traceId) => outcome(() => client.feedback({ memoryId, traceId, signal: 'useful' })),
    makeKey: (userId) =>
      outcome(
        async () => (await client.keys.create({ userId, name: `of ${userId}`, scopes: USER_SCOPES })).secret,
      ),
    shareWithHelper: () =>
      outcome(() =>
        client.policies.put(
          { kind: 'agent', id: 'helper' },
          {
            readNamespaces: HELPER_READS,
            allowedWriteNamespaces: [SHARED],
          },
        ),
      ),
    warningsOf: (actorId) =>
      outcome(async () => {
        const { records } = await client.audit.list({ action: 'warning', actorId, limit: 200 });
        return records.toReversed().map(({ operation, memoryId, namespace, detail }) => ({
          operation,
          memoryId,
          namespace,
          traceId: detail.trace_id ?? null,
        }));
      }),
  };
}

async function outcome<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { code: 'ok', value: await work() };
  } catch (error) {
    if (PalimpsestError.isInstance(error)) return { code: error.code, value: undefined };
    throw error;
  }
}
