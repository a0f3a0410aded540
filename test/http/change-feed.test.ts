import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JSON_BODY, openTestHttp, type TestHttp } from '../helpers/test-http.ts';

let http: TestHttp;

beforeAll(async () => {
  http = await openTestHttp();
});

afterAll(() => http.close());

const NAMESPACE = 'feed.notes';

interface Entry {
  readonly id: string;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Sends a request that has to succeed. */
async function send(method: InjectOptions['method'] & string, url: string, body?: unknown) {
  const response = await http.inject({
    method: method as 'POST',
    url,
    ...(body === undefined ? {} : { payload: JSON.stringify(body), headers: JSON_BODY }),
  });
  expect(response.statusCode, response.body).toBeLessThan(300);
  return response.body === '' ? undefined : response.json();
}

async function entryOf(id: string): Promise<Entry> {
  return send('GET', `/v1/memories/${id}`);
}

async function namespaceOf(): Promise<{ version: number; updated_at: string }> {
  return (await send('GET', `/v1/namespaces?namespace=${NAMESPACE}`)).namespaces[0];
}

let count = 0;

async function newEntry(): Promise<Entry & { content: string }> {
  count += 1;
  return (await send('POST', '/v1/memories', { namespace: NAMESPACE, content: `Note ${count}.` })).entry;
}

async function signal(id: string, signal: string) {
  const { trace_id } = await send('POST', '/v1/memories/search', { query: 'Note', namespaces: [NAMESPACE] });
  return send('POST', '/v1/feedback', { memory_id: id, trace_id, signal });
}

/** Past the millisecond of the write before, so that a new time can be told from the old one. */
const nextMillisecond = () => new Promise((resolve) => setTimeout(resolve, 3));

/**
 * The rule of the change feed: every write that changes an entry, or what is known about it, raises its `version`,
 * which is its namespace's; only new or repeated content renews `updated_at`, on which recency is measured.
 */
const WRITES: [
  string,
  { updated: boolean; version: boolean },
  (entry: Entry & { content: string }) => Promise<unknown>,
][] = [
  [
    'the same content again',
    { updated: true, version: true },
    ({ content }) => send('POST', '/v1/memories', { namespace: NAMESPACE, content }),
  ],
  [
    'other content',
    { updated: true, version: true },
    ({ id }) => send('PATCH', `/v1/memories/${id}`, { content: `Changed ${id}.` }),
  ],
  [
    'metadata',
    { updated: false, version: true },
    ({ id }) => send('PATCH', `/v1/memories/${id}`, { metadata: { a: 1 } }),
  ],
  [
    'tags',
    { updated: false, version: true },
    ({ id }) => send('PATCH', `/v1/memories/${id}`, { tags: ['a'] }),
  ],
  [
    'importance',
    { updated: false, version: true },
    ({ id }) => send('PATCH', `/v1/memories/${id}`, { importance: 0 }),
  ],
  [
    'expiry',
    { updated: false, version: true },
    ({ id }) => send('PATCH', `/v1/memories/${id}`, { expires_at: '9999-01-01' }),
  ],
  [
    'a confirmation',
    { updated: false, version: true },
    ({ id }) => send('POST', `/v1/memories/${id}/confirm`),
  ],
  [
    'being superseded',
    { updated: false, version: true },
    ({ id }) =>
      send('POST', `/v1/memories/${id}/supersede`, {
        draft: { namespace: NAMESPACE, content: `After ${id}.` },
      }),
  ],
  ['forgetting', { updated: false, version: true }, ({ id }) => send('DELETE', `/v1/memories/${id}`)],
  ['feedback that counts', { updated: false, version: true }, ({ id }) => signal(id, 'useful')],
  ['feedback that moves no counter', { updated: false, version: true }, ({ id }) => signal(id, 'wrong')],
  [
    'a search',
    { updated: false, version: false },
    () => send('POST', '/v1/memories/search', { query: 'Note' }),
  ],
  ['a read', { updated: false, version: false }, ({ id }) => send('GET', `/v1/memories/${id}`)],
];

test.each(WRITES)('%s: %j', async (_name, changes, write) => {
  const before = await newEntry();
  const namespaceBefore = await namespaceOf();
  await nextMillisecond();
  await write(before);
  const after = await entryOf(before.id);
  const namespaceAfter = await namespaceOf();
  expect({ updated: after.updated_at > before.updated_at, version: after.version > before.version }).toEqual(
    changes,
  );
  expect(after.created_at).toBe(before.created_at);
  // Who follows a namespace sees every change of anything in it, and nothing that is none.
  expect(namespaceAfter.version > namespaceBefore.version).toBe(changes.version);
  expect(namespaceAfter.updated_at > namespaceBefore.updated_at).toBe(changes.version);
  expect(after.version).toBeLessThanOrEqual(namespaceAfter.version);
});

test.each([
  ['unconfirm', 'confirm'],
  ['restore', 'forget'],
])('%s, after %s, raises the version and keeps updated_at', async (undo, first) => {
  const before = await newEntry();
  if (first === 'forget') await send('DELETE', `/v1/memories/${before.id}`);
  else await send('POST', `/v1/memories/${before.id}/${first}`);
  const between = await entryOf(before.id);
  await nextMillisecond();
  await send('POST', `/v1/memories/${before.id}/${undo}`);
  const after = await entryOf(before.id);
  expect(after.version).toBeGreaterThan(between.version);
  expect(after.updated_at).toBe(before.updated_at);
});

test('a signal that was given before changes nothing', async () => {
  const { id } = await newEntry();
  const { trace_id } = await send('POST', '/v1/memories/search', { query: 'Note', namespaces: [NAMESPACE] });
  const give = () => send('POST', '/v1/feedback', { memory_id: id, trace_id, signal: 'useful' });
  const { entry } = await give();
  expect(await give()).toMatchObject({ recorded: false, entry: { version: entry.version } });
});

test('a purge leaves no entry to tell it, and raises the namespace’s version', async () => {
  const { id } = await newEntry();
  const before = await namespaceOf();
  await send('POST', `/v1/memories/${id}/purge`);
  expect((await namespaceOf()).version).toBeGreaterThan(before.version);
});

test('an incremental export by version misses nothing (CASES F16)', async () => {
  const entries = [await newEntry(), await newEntry(), await newEntry(), await newEntry()];
  const [confirmed, counted, forgotten] = entries.map(({ id }) => id);
  const { version: seen } = await namespaceOf();
  await send('POST', `/v1/memories/${confirmed}/confirm`);
  await signal(counted ?? '', 'accessed');
  await send('DELETE', `/v1/memories/${forgotten}`);
  const exported = await http.get(`/v1/export?namespace=${NAMESPACE}&lifecycle=any`);
  const changed = exported.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry)
    .filter(({ version }) => version > seen);
  expect(changed.map(({ id }) => id).toSorted()).toEqual([confirmed, counted, forgotten].toSorted());
});
