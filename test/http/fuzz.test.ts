import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wireErrorSchema } from '../../src/contract/error-body.ts';
import type { RouteDefinition } from '../../src/contract/routes/route.ts';
import { ROUTES } from '../../src/contract/routes/routes.ts';
import { KEY_SCOPES } from '../../src/core/governance.ts';
import { type Pools, queryStringOf, valuesOf } from '../helpers/contract-arbitraries.ts';
import { exampleRequest } from '../helpers/route-requests.ts';
import { JSON_BODY, openTestHttp, type TestHttp } from '../helpers/test-http.ts';

/** `npm run fuzz` sends 20,000; a change is tried with fewer. */
const REQUESTS = Number(process.env.PALIMPSEST_TEST_FUZZ_REQUESTS ?? 1000);
const SEED = Number(process.env.PALIMPSEST_TEST_FUZZ_SEED ?? Date.now() % 2 ** 31);
/** Requests that are made up together: their ids are of entries that existed a little before. */
const ROUND = 250;

interface Asker {
  readonly userId: string;
  readonly tenantId: string;
  readonly isAdmin: boolean;
  readonly key: string;
  /** Stands in private contents of this user alone. */
  readonly marker: string;
}

let http: TestHttp;
const askers: Asker[] = [];
/** Entries, traces and keys of everybody. */
const ids: string[] = [];

beforeAll(async () => {
  http = await openTestHttp({ asksForKeys: true });
  for (const [userId, tenantId, isAdmin] of [
    ['ada', 'acme', false],
    ['bob', 'acme', false],
    ['root', 'acme', true],
    ['ada', 'globex', true],
  ] as const) {
    const scopes = isAdmin ? KEY_SCOPES : (['read', 'write', 'feedback'] as const);
    const key = await http.makeKey(userId, { tenantId, scopes });
    const marker = `marker${userId}${tenantId}`;
    const asker = { userId, tenantId, isAdmin, key, marker };
    askers.push(asker);
    await plant(asker);
  }
});

afterAll(() => http.close());

function send({ key }: Asker, request: InjectOptions) {
  return http.inject({ ...request, headers: { ...request.headers, authorization: `Bearer ${key}` } });
}

/** Something to find, and its ids. */
async function plant(asker: Asker): Promise<void> {
  const post = async (url: string, body: unknown) =>
    (await send(asker, { method: 'POST', url, payload: JSON.stringify(body), headers: JSON_BODY })).json();
  const memories = ['notes', 'notes.deep', 'plans'].map((name) => ({
    namespace: `vector.user.${asker.userId}.${name}`,
    content: `The ${asker.marker} of ${name} ${ids.length}.`,
    metadata: { a: asker.marker, role: 'user' },
  }));
  const { results } = await post('/v1/memories/batch', { memories });
  for (const { entry } of results) ids.push(entry.id);
  ids.push((await post('/v1/memories/search', { query: asker.marker })).trace_id);
  if (!asker.isAdmin) return;
  ids.push((await post('/v1/keys', { user_id: 'spare', name: 'spare', scopes: ['read'] })).key.id);
}

function pools(): Pools {
  const users = ['ada', 'bob', 'root', '${user_id}'];
  return {
    scopes: [
      ...users.flatMap((user) => [
        `vector.user.${user}.notes`,
        `vector.user.${user}.*`,
        `vector.agent.${user}.runs`,
      ]),
      'vector.global.facts',
      'vector.global.*',
      'vector.*',
      'team.plans',
      '*',
    ],
    ids: [...ids.slice(-40), '01900000-0000-7000-8000-000000000000'],
    words: ['boosted', 'weighted', 'strict', 'helper', 'ada', 'bob', 'note', 'fact', 'tea', 'read', 'admin'],
  };
}

/** The route's example, about things that exist, with at most one part of it replaced. */
function nearExample(route: RouteDefinition, known: Pools): fc.Arbitrary<FuzzRequest> {
  const id = fc.constantFrom(...known.ids);
  const name = fc.constantFrom('helper', 'strict', 'boosted');
  const body = route.body === undefined ? fc.constant({}) : valuesOf(route.body, known);
  return fc
    .record({
      id,
      traceId: id,
      name,
      userId: fc.constantFrom('ada', 'bob', 'root'),
      body,
      isChanged: fc.boolean(),
    })
    .map(({ id: memoryId, traceId, name: profile, userId, body: other, isChanged }) => {
      const things = {
        memoryId,
        traceId,
        keyId: memoryId,
        agentId: profile,
        taskId: profile,
        profile,
        jobId: memoryId,
      };
      const request = exampleRequest(route, things, userId);
      const isObject = typeof other === 'object' && other !== null;
      if (!isChanged || !isObject || typeof request.payload !== 'string' || route.bodyForm === 'json_lines') {
        return request;
      }
      const part = Object.fromEntries(Object.entries(other).slice(0, 1));
      return { ...request, payload: JSON.stringify({ ...JSON.parse(request.payload), ...part }) };
    });
}

type FuzzRequest = InjectOptions & { readonly url: string };

function requestsTo(route: RouteDefinition, known: Pools): fc.Arbitrary<FuzzRequest> {
  return fc.oneof(nearExample(route, known), madeUp(route, known));
}

/** Requests to a route, made of its own schemas. */
function madeUp(route: RouteDefinition, known: Pools): fc.Arbitrary<FuzzRequest> {
  const parameter = fc.constantFrom(...known.ids, ...known.words, 'helper', '', '%00', 'x'.repeat(300));
  const nothing = fc.constant(undefined);
  const subject = fc.constantFrom<Record<string, string>>(
    {},
    {},
    {},
    { 'palimpsest-agent-id': 'helper' },
    { 'palimpsest-agent-id': 'helper', 'palimpsest-origin': 'tool_call' },
    { 'palimpsest-task-id': 'helper', 'palimpsest-origin': 'automatic' },
    { 'palimpsest-agent-id': '%zz' },
    { 'if-match': '"1"' },
    { 'if-none-match': '*' },
    { 'idempotency-key': 'fuzz' },
  );
  return fc
    .record({
      parameter,
      query: route.query === undefined ? nothing : valuesOf(route.query, known),
      body: route.body === undefined ? nothing : valuesOf(route.body, known),
      lines: fc.array(fc.oneof(valuesOf(ROUTES.createMemory.body, known), fc.constant('{')), {
        maxLength: 4,
      }),
      subject,
    })
    .map(({ parameter: value, query, body, lines, subject: headers }) => {
      const path = route.path.replace(/\{\w+\}/, value === '%00' ? value : encodeURIComponent(value));
      const text = queryStringOf(query);
      const url = text === '' ? path : `${path}?${text}`;
      if (route.bodyForm === 'json_lines') {
        const payload = lines
          .map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
          .join('\n');
        return {
          method: route.method,
          url,
          payload,
          headers: { ...headers, 'content-type': 'application/x-ndjson' },
        };
      }
      if (body === undefined) return { method: route.method, url, headers };
      return {
        method: route.method,
        url,
        payload: JSON.stringify(body),
        headers: { ...headers, ...JSON_BODY },
      };
    });
}

/** Everything that is in a value, objects within objects. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const part of Object.values(value)) yield* objectsIn(part);
}

/** What an answer shows, line by line. */
function answersOf(body: string, contentType: unknown): unknown[] {
  if (body === '') return [];
  return String(contentType).includes('ndjson')
    ? body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [JSON.parse(body)];
}

/** An administrator may read what a user has opened to administrators, within the tenant. */
function mayShow({ tenantId, userId, isAdmin }: Asker, shown: Record<string, unknown>): boolean {
  if ('tenant_id' in shown && 'owner_id' in shown) {
    if (shown.tenant_id !== tenantId) return false;
    return shown.owner_id === null || shown.owner_id === userId || isAdmin;
  }
  return true;
}

const tally = new Map<number, number>();

async function tryRequest(asker: Asker, request: FuzzRequest): Promise<void> {
  const response = await send(asker, request);
  const { statusCode, body, headers } = response;
  tally.set(statusCode, (tally.get(statusCode) ?? 0) + 1);
  expect(statusCode, body).toBeLessThan(500);
  expect(statusCode, 'a key that is good was refused').not.toBe(401);
  if (statusCode >= 400) expect(() => wireErrorSchema.parse(response.json())).not.toThrow();
  for (const other of askers) {
    const isOpen = asker.isAdmin && other.tenantId === asker.tenantId;
    if (other !== asker && !isOpen)
      expect(body, `a word of ${other.userId} of ${other.tenantId}`).not.toContain(other.marker);
  }
  for (const answer of answersOf(body, headers['content-type'])) {
    for (const shown of objectsIn(answer)) {
      expect(
        mayShow(asker, shown),
        `shown to ${asker.userId} of ${asker.tenantId}: ${JSON.stringify(shown)}`,
      ).toBe(true);
      // Not ids of keys: the askers' own would be revoked.
      if (typeof shown.id === 'string' && shown.id.length === 36 && !('prefix' in shown)) ids.push(shown.id);
    }
  }
}

test(
  `${REQUESTS} made-up requests: no 500, and no row of anybody else's`,
  async () => {
    console.log(`fuzz: seed ${SEED}, ${REQUESTS} requests`);
    for (let done = 0; done < REQUESTS; done += ROUND) {
      for (const asker of askers) await plant(asker);
      const known = pools();
      const anyRequest = fc
        .constantFrom(...Object.values<RouteDefinition>(ROUTES))
        .chain((route) => requestsTo(route, known));
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...askers), anyRequest, tryRequest),
        // Requests change what is stored, so that a smaller one would meet another state.
        { numRuns: Math.min(ROUND, REQUESTS - done), seed: SEED + done, endOnFailure: true },
      );
    }
    const successes = [...tally]
      .filter(([status]) => status < 300)
      .reduce((sum, [, count]) => sum + count, 0);
    console.log('fuzz: answers by status', Object.fromEntries([...tally].toSorted()));
    // Requests that all stop at the schema would try nothing behind it.
    expect(successes).toBeGreaterThan(REQUESTS / 5);
  },
  Math.max(60_000, REQUESTS * 100),
);
