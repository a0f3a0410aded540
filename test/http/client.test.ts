import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PalimpsestClient } from '../../src/client/index.ts';
import { createClient, PalimpsestError } from '../../src/client/index.ts';
import { ROUTES } from '../../src/contract/routes/routes.ts';
import { type HttpServer, serveHttp } from '../../src/http/serve-http.ts';
import { LOCAL_OPERATOR } from '../../src/service/local-operator.ts';
import { frozen } from '../helpers/frozen.ts';
import { openTestHttp, type TestHttp } from '../helpers/test-http.ts';

let http: TestHttp;
let server: HttpServer;
/** Method and path of every request the clients below have sent. */
const sent: { readonly method: string; readonly path: string }[] = [];

beforeAll(async () => {
  http = await openTestHttp({ asksForKeys: true });
  server = await serveHttp(http.app, { host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server.close();
  await http.close();
});

async function clientOf(
  userId: string,
  key: Parameters<TestHttp['makeKey']>[1] = {},
): Promise<PalimpsestClient> {
  return createClient({
    baseUrl: server.url,
    apiKey: await http.makeKey(userId, key),
    fetch: (url, init) => {
      sent.push({ method: init.method ?? 'GET', path: new URL(url).pathname });
      return fetch(url, init);
    },
  });
}

async function refusal(promise: Promise<unknown>): Promise<PalimpsestError> {
  const outcome: unknown = await promise.catch((error: unknown) => error);
  if (PalimpsestError.isInstance(outcome)) return outcome;
  return expect.unreachable(`nothing was refused, but answered ${JSON.stringify(outcome)}`);
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test('the life of a memory, in the names and dates of code; metadata keys stay as they are (CASES G14)', async () => {
  const ada = await clientOf('ada');
  const observedAt = new Date('2026-05-02T09:30:00Z');
  const { operation, entry } = await ada.remember(
    frozen({
      namespace: 'vector.user.ada.notes',
      content: 'Ada prefers tea over coffee.',
      metadata: { userName: 1, user_name: 2, nested: { some_key: [1] } },
      tags: ['drinks'],
      source: { kind: 'chat', ref: '4711' },
      importance: 0,
      observedAt,
      expiresAt: null,
    }),
  );
  expect(operation).toBe('create');
  expect(entry).toMatchObject({
    tenantId: 'acme',
    ownerId: 'ada',
    createdBy: 'ada',
    metadata: { userName: 1, user_name: 2, nested: { some_key: [1] } },
    importance: 0,
    lifecycle: 'live',
    observedAt,
    expiresAt: null,
    accessCount: 0,
  });
  expect(entry.createdAt).toBeInstanceOf(Date);
  expect(await ada.get(entry.id)).toMatchObject(entry);

  const confirmed = await ada.confirm(entry.id);
  expect(confirmed).toMatchObject({ status: 'confirmed', confirmedBy: 'ada' });
  expect(confirmed.confirmedAt).toBeInstanceOf(Date);
  expect((await ada.unconfirm(entry.id)).status).toBe('unconfirmed');

  const updated = await ada.update(entry.id, frozen({ importance: 1 }), {
    ifVersion: (await ada.get(entry.id)).version,
  });
  expect(updated.importance).toBe(1);
  expect((await refusal(ada.update(entry.id, { importance: 0 }, { ifVersion: entry.version }))).code).toBe(
    'precondition_failed',
  );

  const { superseded, successor } = await ada.supersede(entry.id, {
    namespace: 'vector.user.ada.notes',
    content: 'Ada prefers water.',
  });
  expect(superseded).toMatchObject({ id: entry.id, lifecycle: 'superseded', supersededBy: successor.id });
  const { entries, missing } = await ada.history(successor.id);
  expect([entries.map(({ id }) => id), missing]).toEqual([[entry.id, successor.id], []]);

  expect((await ada.forget(successor.id)).lifecycle).toBe('deleted');
  expect((await ada.restore(successor.id)).lifecycle).toBe('live');
  await ada.purge(successor.id);
  expect((await refusal(ada.get(successor.id))).code).toBe('not_found');
});

test('searching, its trace, and feedback', async () => {
  const bob = await clientOf('bob');
  const [first] = await bob.rememberMany(
    frozen([
      {
        namespace: 'vector.user.bob.notes',
        content: 'We deploy on Tuesdays.',
        metadata: { project_name: 'atlas' },
      },
      { namespace: 'vector.user.bob.notes', content: 'The cat sleeps.' },
    ]),
  );
  const found = await bob.recall(
    frozen({
      query: 'When do we deploy?',
      namespaces: ['vector.user.bob.*'],
      filter: { metadata: { project_name: 'atlas' }, observedAt: undefined },
      topK: 1,
      minScore: 0,
      relativeCutoff: 0,
      explain: true,
    }),
  );
  expect(found).toMatchObject({ profile: 'boosted', exact: true, warnings: [] });
  expect(found.hits.map((hit) => hit.entry.id)).toEqual([first?.entry.id]);
  expect(found.hits[0]?.entry.metadata).toEqual({ project_name: 'atlas' });
  expect(found.trace).toMatchObject({ id: found.traceId, cutCount: 0, parameters: { topK: 1, minScore: 0 } });
  expect(found.trace?.now).toBeInstanceOf(Date);
  expect(found.trace?.timings).toHaveProperty('candidates');

  const relevant = await bob.relevant({ query: 'deploy' });
  expect(relevant).toMatchObject({ profile: 'weighted' });
  expect(relevant.trace).toBeUndefined();

  const feedback = frozen({
    memoryId: first?.entry.id ?? '',
    traceId: found.traceId,
    signal: 'not_useful' as const,
  });
  expect((await bob.feedback(feedback)).recorded).toBe(true);
  expect((await bob.feedback(feedback)).recorded).toBe(false);
  expect(await bob.feedbackSummary(first?.entry.id ?? '')).toContainEqual({ signal: 'not_useful', count: 1 });

  expect((await bob.traces.get(found.traceId)).trace).toMatchObject({ id: found.traceId, cut_count: 0 });
  const page = await bob.traces.list({ limit: 1 });
  expect(page.traces).toHaveLength(1);
  expect(page.nextCursor).not.toBeNull();
  expect((await all(bob.traces.export({ from: new Date(0) }))).map(({ userId }) => userId)).toEqual([
    'bob',
    'bob',
  ]);
});

test('pages, counts and streams', async () => {
  const eve = await clientOf('eve');
  const inputs = Array.from({ length: 1203 }, (_, index) => ({
    namespace: `vector.user.eve.n${index % 3}`,
    content: `Note number ${index}.`,
    metadata: { index },
  }));
  const steps: number[] = [];
  const totals = await eve.importEntries(frozen(inputs), { onProgress: ({ stored }) => steps.push(stored) });
  expect(totals).toEqual({ stored: 1203, created: 1203, refreshed: 0 });
  expect(steps).toEqual([500, 1000, 1203]);

  const listed = await all(eve.listAll({ namespaces: ['vector.user.eve.*'], limit: 500 }));
  expect(new Set(listed.map(({ id }) => id)).size).toBe(1203);
  const filtered = await eve.list({ filter: { metadata: { index: { lt: 2 } }, tags: { any: ['x'] } } });
  expect(filtered.entries).toEqual([]);
  const two = await eve.list({
    filter: { metadata: { index: { lt: 2 } } },
    lifecycle: 'any',
    text: 'number',
  });
  expect(two.entries.map(({ metadata }) => metadata.index).toSorted()).toEqual([0, 1]);

  const exported = await all(eve.exportEntries({ namespaces: ['vector.user.eve.*'] }));
  expect(exported.map(({ id }) => id)).toEqual(listed.map(({ id }) => id));
  expect(exported[0]?.createdAt).toBeInstanceOf(Date);

  const namespaces = await all(eve.namespacesAll({ limit: 1 }));
  expect(namespaces.map(({ path, liveCount }) => [path, liveCount])).toEqual([
    ['vector.user.eve.n0', 401],
    ['vector.user.eve.n1', 401],
    ['vector.user.eve.n2', 401],
  ]);
  expect(await eve.stats({ namespace: ['vector.user.eve.n0', 'vector.user.eve.n1'] })).toMatchObject({
    namespaceCount: 2,
    liveCount: 802,
    types: [{ type: 'note', liveCount: 802 }],
  });
});

test('an import names the entry at fault, counted over all its requests', async () => {
  const joe = await clientOf('joe');
  const good = Array.from({ length: 700 }, (_, index) => ({
    namespace: 'vector.user.joe.n',
    content: `n ${index}`,
  }));
  const local = await refusal(joe.importEntries([...good, { namespace: 'vector.user.joe.n', content: ' ' }]));
  expect([local.code, local.details[0]?.line]).toEqual(['invalid_input', 701]);
  const foreign = { namespace: 'vector.user.bob.n', content: 'not hers' };
  const told = await refusal(joe.importEntries([...good, foreign]));
  expect([told.code, told.details[0]?.line]).toEqual(['forbidden', 701]);
  expect(told.message).toMatch(/^Line 701: .* Stored before it: 500\./s);
});

test('what administrators do', async () => {
  const root = await clientOf('root', { scopes: ['read', 'write', 'feedback', 'admin'] });
  const rule = await root.rules.put(
    frozen({ pattern: 'vector.global.howto', bonus: 0.1, instructionTemplate: null }),
  );
  expect(rule).toMatchObject({ bonus: 0.1, instructionTemplate: null });
  expect(await root.rules.list()).toEqual([rule]);
  expect(await root.rules.preview({ pattern: 'vector.global.howto', bonus: 1, query: 'x' })).toMatchObject({
    namespaceCount: 0,
    ranking: { before: [], after: [] },
  });
  await root.rules.delete('vector.global.howto');
  expect(await root.rules.list()).toEqual([]);

  const { profile, warnings } = await root.profiles.put(
    'strict',
    frozen({ kind: 'boosted', minScore: 0, relativeCutoff: 0.9 }),
  );
  expect(profile).toMatchObject({
    isBuiltIn: false,
    profile: { name: 'strict', minScore: 0, recencyDecay: 0.05 },
  });
  expect(warnings.map(({ code }) => code)).toEqual(['risky_relative_cutoff']);
  expect(await root.profiles.get('strict')).toEqual(profile);
  expect((await root.profiles.list()).map((view) => view.profile.name)).toEqual([
    'boosted',
    'weighted',
    'strict',
  ]);
  await root.profiles.delete('strict');

  for (const kind of ['agent', 'task'] as const) {
    const subject = frozen({ kind, id: 'Hélper/1' });
    const kept = await root.policies.put(
      subject,
      frozen({ readNamespaces: ['vector.global.*'], topK: 1, minScore: 0 }),
    );
    expect(kept.policy).toMatchObject({ subject, topK: 1, minScore: 0, allowToolWrite: false });
    expect(await root.policies.get(subject)).toEqual(kept.policy);
    expect(await root.policies.list()).toContainEqual(kept.policy);
    await root.policies.delete(subject);
    expect((await refusal(root.policies.get(subject))).code).toBe('not_found');
  }

  const { key, secret } = await root.keys.create(frozen({ userId: 'kim', name: 'laptop', scopes: ['read'] }));
  expect(secret.startsWith(key.prefix)).toBe(true);
  const kim = createClient({ baseUrl: server.url, apiKey: secret });
  expect(await kim.me()).toMatchObject({ userId: 'kim', scopes: ['read'], allowAdminMemory: false });
  expect((await refusal(kim.setAllowAdminMemory(true))).code).toBe('forbidden');
  expect(await root.keys.list()).toContainEqual(expect.objectContaining({ id: key.id, userId: 'kim' }));
  expect((await root.keys.revoke(key.id)).revokedAt).toBeInstanceOf(Date);
  expect((await refusal(kim.me())).code).toBe('unauthenticated');

  expect(await root.me()).toMatchObject({ tenantId: 'acme', userId: 'root' });
  expect((await root.setAllowAdminMemory(true)).allowAdminMemory).toBe(true);

  const { records, nextCursor } = await root.audit.list({
    action: ['admin', 'warning'],
    limit: 2,
    from: new Date(0),
  });
  expect(records).toHaveLength(2);
  expect(records[0]?.occurredAt).toBeInstanceOf(Date);
  expect(
    (await root.audit.list({ action: 'admin', cursor: nextCursor ?? '' })).records.length,
  ).toBeGreaterThan(0);
  const exported = await all(root.audit.export({ actorId: 'kim' }));
  expect(exported.map(({ action }) => action)).toContain('warning');
});

test('a change of the embedding model, from its start to its undoing', async () => {
  const root = await clientOf('gov', { scopes: ['read', 'write', 'admin'], tenantId: 'modelled' });
  await root.remember({ namespace: 'vector.user.gov.notes', content: 'The kettle sings.' });
  const operator = {
    access: { ...LOCAL_OPERATOR, principal: { ...LOCAL_OPERATOR.principal, tenantId: 'modelled' } },
  };
  // A whole configuration is for the machine's own programs; over HTTP a provider has a name.
  const { reembed } = http.opened;
  const smaller = { provider: 'hashing', dimensions: 256 };
  await reembed.run(operator, (await reembed.start(operator, { to: smaller })).id);

  const { embeddings } = root;
  const job = await embeddings.start({ to: 'hashing', switchesItself: false });
  expect(job).toMatchObject({ kind: 'change', scope: '*', modelId: 'hashing-512-v1', switchesItself: false });
  expect(job.createdAt).toBeInstanceOf(Date);
  expect((await embeddings.pause(job.id)).status).toBe('paused');
  expect((await embeddings.resume(job.id)).status).toBe('running');
  await reembed.run(operator, job.id);
  expect((await embeddings.job(job.id)).progress).toMatchObject({ entries: 1, settled: 1, refused: 0 });
  expect(await embeddings.retryRefused(job.id)).toBe(0);
  const verification = await embeddings.verify(job.id, { queries: ['kettle'] });
  expect(verification).toMatchObject({
    counts: { entries: 1, vectors: 1 },
    overlap: { queries: 1, mean: 1 },
  });
  expect((await root.recall({ query: 'kettle' })).embeddingModelId).toBe('hashing-256-v1');
  expect(await embeddings.switchOver(job.id)).toMatchObject({
    status: 'done',
    previousModelId: 'hashing-256-v1',
  });
  expect((await root.recall({ query: 'kettle' })).embeddingModelId).toBe('hashing-512-v1');
  expect(await embeddings.purge()).toBe(1);
  const back = await embeddings.rollBack();
  expect(back.modelId).toBe('hashing-256-v1');
  expect((await embeddings.cancel(back.id)).status).toBe('cancelled');
  const { models, jobs } = await embeddings.status();
  expect(models).toEqual([{ role: 'active', scope: '*', modelId: 'hashing-512-v1', dimensions: 512 }]);
  expect(jobs.map(({ status }) => status)).toEqual(['cancelled', 'done', 'done']);

  const unknown = await refusal(embeddings.start({ to: 'crystal-ball' }));
  expect([unknown.code, unknown.details[0]?.path]).toEqual(['invalid_input', 'to']);
  expect((await refusal(embeddings.start({ scope: 'vec*' }))).details[0]?.path).toBe('scope');
  const reader = await clientOf('reader', { tenantId: 'modelled' });
  expect((await refusal(reader.embeddings.status())).code).toBe('forbidden');
});

test('a change of the model over HTTP brings no configuration, which could name files and addresses', async () => {
  const key = await http.makeKey('gov', { scopes: ['admin'], tenantId: 'modelled' });
  const to = {
    provider: 'openai',
    model: 'x',
    baseUrl: 'http://127.0.0.1:9',
    apiKey: { file: '/etc/hostname' },
  };
  const response = await http.inject({
    method: 'POST',
    url: '/v1/embeddings/jobs',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    payload: JSON.stringify({ to }),
  });
  expect(response.statusCode).toBe(400);
  expect(response.json().error.details[0]).toMatchObject({ path: 'to' });
});

test('on behalf of an agent, whose policy says where to write', async () => {
  const root = await clientOf('root', { scopes: ['read', 'write', 'admin'] });
  await root.policies.put(
    { kind: 'agent', id: 'bot é' },
    { readNamespaces: ['vector.user.${user_id}.*'], writeNamespace: 'vector.agent.${user_id}.runs' },
  );
  const lea = await clientOf('lea');
  const { entry } = await lea.for({ agentId: 'bot é' }).remember({ content: 'A run.' });
  expect(entry.namespace).toBe('vector.agent.lea.runs');
  expect((await refusal(lea.remember({ content: 'A run.' }))).details[0]?.path).toBe('namespace');
  const tool = await refusal(
    lea.for({ agentId: 'bot é', origin: 'tool_call' }).remember({ content: 'By tool.' }),
  );
  expect(tool.code).toBe('forbidden');
});

test('a memory block, and a run that is stored where the policy allows it', async () => {
  const root = await clientOf('root', { scopes: ['read', 'write', 'admin'] });
  const writeNamespace = 'vector.agent.${user_id}.runs';
  await root.policies.put(
    { kind: 'agent', id: 'writer' },
    { readNamespaces: ['vector.agent.${user_id}.*'], writeNamespace, allowWrite: true },
  );
  const uma = (await clientOf('uma')).for({ agentId: 'writer', origin: 'automatic' });
  const run = frozen({ runId: 'run-1', output: 'The invoice went to Alexandra.', observedAt: new Date(0) });
  const stored = await uma.observeRun(run);
  expect(stored).toMatchObject({
    runId: 'run-1',
    isReplay: false,
    stored: [{ part: 'output' }],
    skipped: [],
  });
  const { namespace, observedAt } = await uma.get(stored.stored[0]?.memoryId ?? '');
  expect([namespace, observedAt]).toEqual(['vector.agent.uma.runs', new Date(0)]);
  const messages = [
    { role: 'user', content: 'Where did the invoice go, Alexandra?', someKey: { other_key: 1 } },
  ] as const;
  const filled = await uma.context(
    frozen({ messages, minScore: 0, returnMessages: true, timeZone: 'Europe/Berlin' }),
  );
  expect(JSON.stringify(filled.messages)).toContain('The invoice went to Alexandra.');
  expect(JSON.stringify(filled.messages)).toContain('"someKey":{"other_key":1}');
});

test('a write under a key is carried out once', async () => {
  const mia = await clientOf('mia');
  const input = { namespace: 'vector.user.mia.n', content: 'Once.' };
  const first = await mia.remember(input, { idempotencyKey: 'k1' });
  expect(first.operation).toBe('create');
  expect(await mia.remember(input, { idempotencyKey: 'k1' })).toEqual(first);
  expect((await mia.remember(input, { idempotencyKey: 'k2' })).operation).toBe('refresh');
  const other = await refusal(mia.remember({ ...input, content: 'Other.' }, { idempotencyKey: 'k1' }));
  expect(other.code).toBe('conflict');
});

describe('refusals', () => {
  test('have the code, the details and the names of the library', async () => {
    const ada = await clientOf('ada');
    const early = await refusal(ada.recall({ query: 'x', minScore: Number.NaN }));
    expect(early.code).toBe('invalid_input');
    const many = await refusal(ada.recall({ query: 'x', topK: 201 }));
    expect([many.code, many.details[0]?.path]).toEqual(['invalid_input', 'topK']);
    expect(many.message).toMatch(/^topK is 201/);
    const item = await refusal(
      ada.rememberMany([
        { namespace: 'vector.user.ada.n', content: 'x' },
        { namespace: 'vector.user.ada.n', content: 'x', expiresAt: '2026-02-30' },
      ]),
    );
    expect(item.details[0]).toMatchObject({ path: 'memories[1].expiresAt', item: 1 });
    const foreign = await refusal(ada.remember({ namespace: 'vector.user.bob.n', content: 'x' }));
    expect([foreign.code, foreign.details[0]?.path]).toEqual(['forbidden', 'namespace']);
  });

  test.each([
    ['an unknown field', { topk: 1 }, 'Did you mean topK?'],
    ['the name of the wire', { top_k: 1 }, 'Did you mean topK?'],
    ['an identity', { userId: 'bob' }, 'follows from who is asking'],
  ])('%s is refused before anything is sent', async (_name, input, message) => {
    const before = sent.length;
    const error = await refusal((await clientOf('ada')).recall(input as object));
    expect(error.message).toContain(message);
    expect(sent.length).toBe(before);
  });

  test.each(['', '.', '..', '\ud800'])('the id %j, which would be another path, is refused', async (id) => {
    expect((await refusal((await clientOf('ada')).get(id))).code).toBe('invalid_input');
  });

  test('an id is one segment whatever is in it', async () => {
    const error = await refusal((await clientOf('ada')).get('a/../../keys?x#y'));
    expect(error.code).toBe('not_found');
  });
});

describe('a server that is not there', () => {
  test('is a rejection of the first call, and a later one may succeed', async () => {
    let isUp = false;
    const client = createClient({
      baseUrl: server.url,
      apiKey: await http.makeKey('zoe'),
      fetch: (url, init) => fetch(isUp ? url : url.replace(/:\d+/, ':1'), init),
    });
    const error = await refusal(client.list());
    expect(error.code).toBe('server_unreachable');
    expect(error.cause).toBeInstanceOf(Error);
    isUp = true;
    expect((await client.list()).entries).toEqual([]);
  });

  test.each(['', 'not a url', 'ftp://127.0.0.1', 'postgres://h/d'])(
    '%j is no URL of one',
    async (baseUrl) => {
      const client = createClient({ baseUrl });
      expect((await refusal(client.list())).details[0]?.path).toBe('baseUrl');
    },
  );

  test('something else under the URL is told as such', async () => {
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1',
      fetch: async () => new Response('<html>Bad Gateway</html>', { status: 502 }),
    });
    const error = await refusal(client.list());
    expect([error.code, error.details[0]?.got]).toEqual(['server_unreachable', 502]);
  });

  test('a request is given up after its time, or when its caller wants', async () => {
    const never = (_url: string, { signal }: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        if (signal?.aborted === true) reject(signal.reason);
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    const late = createClient({ baseUrl: 'http://127.0.0.1:1', fetch: never, timeoutMs: 20 });
    expect((await refusal(late.list())).message).toContain('did not answer within 20 ms');
    const patient = createClient({ baseUrl: 'http://127.0.0.1:1', fetch: never, timeoutMs: 0 });
    const reason = new Error('changed my mind');
    await expect(patient.list({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test('a stream that breaks off is an error, not an end', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(
          new TextEncoder().encode('{"id":"1","created_at":"2026-05-02T00:00:00Z"}\n{"id":'),
        );
        controller.close();
      },
    });
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', fetch: async () => new Response(body) });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { id } of client.exportEntries()) seen.push(id);
    })();
    expect((await refusal(reading)).code).toBe('server_unreachable');
    expect(seen).toEqual(['1']);
  });
});

test('every route has been asked by a method of the client', () => {
  const asked = (method: string, path: string) =>
    sent.some((request) => {
      const pattern = path.replaceAll(/\{\w+\}/g, '[^/]+');
      return request.method === method && new RegExp(`^${pattern}$`).test(request.path);
    });
  const missing = Object.entries(ROUTES)
    .filter(([, { method, path }]) => !asked(method, path))
    .map(([name]) => name);
  expect(missing).toEqual([]);
});
