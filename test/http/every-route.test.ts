import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wireErrorSchema } from '../../src/contract/error-body.ts';
import { changesNothing, type RouteDefinition } from '../../src/contract/routes/route.ts';
import { ROUTES } from '../../src/contract/routes/routes.ts';
import { KEY_SCOPES } from '../../src/core/governance.ts';
import { LOCAL_OPERATOR } from '../../src/service/local-operator.ts';
import { exampleRequest, type KnownIds, parameterOf } from '../helpers/route-requests.ts';
import { JSON_BODY, openTestHttp, type TestHttp } from '../helpers/test-http.ts';

/** Made from the table of routes, so that a new route can't be forgotten. */
const EVERY_ROUTE: [string, RouteDefinition][] = Object.entries(ROUTES);

/** Stands in every content of Ada's, and nowhere else. */
const MARKER = 'zanzibar';

let http: TestHttp;
let ada: string;
let bob: string;
let mallory: string;

beforeAll(async () => {
  http = await openTestHttp({ asksForKeys: true });
  ada = await http.makeKey('ada', { scopes: KEY_SCOPES });
  bob = await http.makeKey('bob');
  mallory = await http.makeKey('mallory', { scopes: KEY_SCOPES, tenantId: 'globex' });
});

afterAll(() => http.close());

function send(key: string | null, request: InjectOptions): Promise<LightMyRequestResponse> {
  const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
  return http.inject({ ...request, headers: { ...request.headers, ...authorization } });
}

function post(key: string, url: string, body: unknown): Promise<LightMyRequestResponse> {
  return send(key, { method: 'POST', url, payload: JSON.stringify(body), headers: JSON_BODY });
}

let count = 0;

/** Things of Ada's and of her tenant, new for each test, since a route may remove them. */
async function things({ path }: RouteDefinition): Promise<KnownIds> {
  count += 1;
  const namespace = 'vector.user.ada.notes';
  const { entry } = (await post(ada, '/v1/memories', { namespace, content: `${MARKER} ${count}` })).json();
  const { trace_id } = (await post(ada, '/v1/memories/search', { query: `${MARKER} ${count}` })).json();
  await http.opened.flush();
  const { key } = (
    await post(ada, '/v1/keys', { user_id: 'ada', name: `${MARKER} ${count}`, scopes: ['read'] })
  ).json();
  const put = (url: string, body: unknown) =>
    send(ada, { method: 'PUT', url, payload: JSON.stringify(body), headers: JSON_BODY });
  const helper = `helper-${count}`;
  const profile = `strict-${count}`;
  await put(`/v1/agents/${helper}/policy`, { read_namespaces: ['vector.user.${user_id}.*'] });
  await put(`/v1/tasks/${helper}/policy`, {});
  await put(`/v1/profiles/${profile}`, { kind: 'boosted' });
  await put('/v1/rules', { pattern: 'vector.agent.${user_id}.howto', bonus: 0.1 });
  return {
    memoryId: entry.id,
    traceId: trace_id,
    keyId: key.id,
    agentId: helper,
    taskId: helper,
    profile,
    // Takes a second, so only where it is asked for.
    jobId: path.startsWith('/v1/embeddings') ? await completeChange() : 'none',
  };
}

/** The scope of the model changes in the routes' examples. */
const SCOPE = 'vector.user.ada.*';

/** A change of the model that was done before, and another one that is complete and for somebody to switch. */
async function completeChange(): Promise<string> {
  const { reembed } = http.opened;
  const context = operatorOf('acme');
  for (const { job } of (await reembed.status(context)).jobs) {
    if (job.status === 'running' || job.status === 'paused') await reembed.cancel(context, job.id);
  }
  const { assignments } = await reembed.status(context);
  const other = { provider: 'hashing', dimensions: 256 };
  if (
    !assignments.some(
      ({ role, scope, model }) => role === 'active' && scope === SCOPE && model.dimensions === 256,
    )
  ) {
    await reembed.run(context, (await reembed.start(context, { to: other, scope: SCOPE })).id);
  }
  const { id } = await reembed.start(context, { to: 'hashing', scope: SCOPE, switchesItself: false });
  await reembed.run(context, id);
  return id;
}

function operatorOf(tenantId: string) {
  return { access: { ...LOCAL_OPERATOR, principal: { ...LOCAL_OPERATOR.principal, tenantId } } };
}

/** Everything of the tenant that a request could change, but a user's own entries. */
async function everything(besides?: string): Promise<string> {
  const operator = operatorOf('acme');
  const { service, governance, reembed } = http.opened;
  const entries: unknown[] = [];
  for await (const entry of service.exportEntries(operator, { lifecycle: 'any' })) {
    if (entry.ownerId !== besides) entries.push(entry);
  }
  return JSON.stringify([
    entries,
    (await governance.listKeys(operator)).map(({ lastUsedAt: _, ...key }) => key),
    await governance.listPolicies(operator),
    await governance.listProfiles(operator),
    await service.listRules(operator),
    (await reembed.status(operator)).assignments,
    (await reembed.status(operator)).jobs.map(({ job }) => [job.id, job.status, job.verification]),
  ]);
}

async function warningsOf(
  actorId: string,
): Promise<{ operation: string | null; memoryId: string | null; detail: object }[]> {
  const operator = operatorOf('acme');
  const request = { actions: ['warning'], actorId, limit: 500 } as const;
  return [...(await http.opened.governance.listAudit(operator, request)).items];
}

function errorOf(response: LightMyRequestResponse) {
  return wireErrorSchema.parse(response.json()).error;
}

describe.each(EVERY_ROUTE)('%s', (_name, route) => {
  test('answers what its definition says, to whoever may ask', async () => {
    const response = await send(ada, exampleRequest(route, await things(route)));
    expect(Object.keys(route.answers), response.body).toContain(String(response.statusCode));
    if (route.answer === undefined) return expect(response.body).toBe('');
    const values = route.answerForm === 'json_lines' ? response.body.trimEnd().split('\n') : [response.body];
    for (const value of values) expect(() => route.answer?.parse(JSON.parse(value))).not.toThrow();
    if (route.hasEtag === true) expect(response.headers.etag).toMatch(/^"\d+"$/);
  });

  test('asks who it is', async () => {
    const before = await everything();
    const ids = {
      memoryId: 'x',
      traceId: 'x',
      keyId: 'x',
      agentId: 'x',
      taskId: 'x',
      profile: 'x',
      jobId: 'x',
    };
    for (const key of [null, 'nonsense', `${ada.slice(0, -1)}_`, ada.toUpperCase()]) {
      const response = await send(key, exampleRequest(route, ids));
      expect(response.statusCode).toBe(401);
      expect(errorOf(response).code).toBe('unauthenticated');
      expect(response.headers['www-authenticate']).toBe('Bearer');
    }
    expect(await everything()).toBe(before);
  });

  test('refuses a key that is for everything else, before it looks at the request, and on the record', async () => {
    const { scope } = route;
    if (scope === null) return;
    const ids = await things(route);
    const key = await http.makeKey(`without-${scope}`, {
      scopes: KEY_SCOPES.filter((other) => other !== scope),
    });
    const before = await everything();
    const requests = [exampleRequest(route, ids), { ...exampleRequest(route, ids), payload: '{"nonsense":' }];
    for (const request of requests) {
      const response = await send(key, request);
      expect(response.statusCode).toBe(403);
      const { code, message, details } = errorOf(response);
      expect(code).toBe('forbidden');
      expect(message).toContain(`"${scope}"`);
      expect(details[0]).toMatchObject({ path: 'scopes', allowed: scope });
    }
    expect(await everything()).toBe(before);
    const operation = `${route.method} ${route.path}`;
    expect((await warningsOf(`without-${scope}`)).map((warning) => warning.operation)).toContain(operation);
  });

  test('a key for reading changes nothing', async () => {
    const ids = await things(route);
    const key = await http.makeKey('reader', { scopes: ['read'] });
    const before = await everything();
    const response = await send(key, exampleRequest(route, ids));
    expect(await everything()).toBe(before);
    if (!changesNothing(route) && route.scope !== null) expect(response.statusCode).toBe(403);
  });

  test.each(['bob', 'mallory'])(
    'shows %s nothing of Ada’s, changes nothing of hers, and is on the record',
    async (who) => {
      const ids = await things(route);
      const before = await everything(who);
      const key = who === 'bob' ? bob : mallory;
      const inHers = await send(key, exampleRequest(route, ids));
      const inTheirs = await send(key, exampleRequest(route, ids, who));
      for (const response of [inHers, inTheirs]) {
        expect(response.statusCode).toBeLessThan(500);
        expect(response.body).not.toContain(MARKER);
      }
      const parameter = parameterOf(route);
      const named = parameter === null ? [] : [ids[parameter]];
      const inBody = JSON.stringify(route.example?.body ?? '').includes('"memory_id"');
      const isHers = inBody || ['memoryId', 'traceId', 'keyId'].includes(parameter ?? '');
      const isAllowed = who === 'mallory' || route.scope !== 'admin';
      if (isAllowed && (isHers || (who === 'mallory' && parameter !== null && route.method !== 'PUT'))) {
        expect(inTheirs.statusCode).toBe(404);
        expect(errorOf(inTheirs).code).toBe('not_found');
      }
      if (isAllowed && isHers && who === 'bob') {
        const recorded = JSON.stringify(await warningsOf('bob'));
        const wanted = inBody ? [ids.memoryId, ids.traceId] : named;
        expect(wanted.some((id) => recorded.includes(id))).toBe(true);
      }
      expect(await everything(who)).toBe(before);
    },
  );

  test('takes no identity from the request, and no field it does not know', async () => {
    const ids = await things(route);
    const request = exampleRequest(route, ids);
    const separator = request.url.includes('?') ? '&' : '?';
    for (const field of ['tenant_id', 'owner_id', 'namespaces_']) {
      const response = await send(bob, { ...request, url: `${request.url}${separator}${field}=ada` });
      expect([400, 403, 404], `${field}: ${response.body}`).toContain(response.statusCode);
      if (route.scope !== 'admin' && route.query !== undefined)
        expect(errorOf(response).details[0]?.path).toBe(field);
      const asAda = await send(ada, { ...request, url: `${request.url}${separator}${field}=bob` });
      if (route.params === undefined) expect(asAda.statusCode).toBe(400);
    }
    if (route.body === undefined || typeof request.payload !== 'string' || route.bodyForm === 'json_lines')
      return;
    for (const field of ['tenant_id', 'owner_id', 'is_admin', 'unknown_field']) {
      const payload = JSON.stringify({ ...JSON.parse(request.payload), [field]: 'ada' });
      const response = await send(ada, { ...request, payload });
      expect(response.statusCode, response.body).toBe(400);
      expect(JSON.stringify(errorOf(response).details)).toContain(field);
    }
  });
});

test('every route of the table is served, and under /v1 nothing else', async () => {
  const served = http.app.printRoutes({ commonPrefix: false, includeHooks: false });
  for (const { method, path } of Object.values(ROUTES)) {
    const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
    expect(http.app.hasRoute({ method, url }), `${method} ${url}`).toBe(true);
  }
  const lines = served.split('\n').filter((line) => /\((GET|POST|PUT|PATCH|DELETE|HEAD)/.test(line));
  const methodsUnderV1 = lines
    .slice(lines.findIndex((line) => line.includes('/v1')))
    .join('')
    .match(/GET|POST|PUT|PATCH|DELETE/g);
  expect(methodsUnderV1?.length).toBeGreaterThanOrEqual(Object.keys(ROUTES).length);
});
