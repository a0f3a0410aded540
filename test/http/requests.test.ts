import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wireErrorSchema } from '../../src/contract/error-body.ts';
import { wireImportReportSchema } from '../../src/contract/import-report.ts';
import { KEY_SCOPES } from '../../src/core/governance.ts';
import { serveHttp } from '../../src/http/serve-http.ts';
import { JSON_BODY, openTestHttp, type TestHttp } from '../helpers/test-http.ts';

let http: TestHttp;

beforeAll(async () => {
  http = await openTestHttp();
});

afterAll(() => http.close());

const LINES_BODY = { 'content-type': 'application/x-ndjson' };

/** The count once it has stood still for a while. */
async function atRest(count: () => number): Promise<number> {
  for (let before = -1; before !== count(); await sleep(1_000)) before = count();
  return count();
}

function write(content: string, headers: Record<string, string> = {}, namespace = 'requests') {
  const payload = JSON.stringify({ namespace, content });
  return http.inject({ method: 'POST', url: '/v1/memories', payload, headers: { ...JSON_BODY, ...headers } });
}

function patch(id: string, body: object, headers: Record<string, string> = {}) {
  const payload = JSON.stringify(body);
  return http.inject({
    method: 'PATCH',
    url: `/v1/memories/${id}`,
    payload,
    headers: { ...JSON_BODY, ...headers },
  });
}

describe('ETag and If-Match', () => {
  test('a change that is based on an older state is refused, and changes nothing', async () => {
    const created = await write('Versions.');
    const { id } = created.json().entry;
    const first = String(created.headers.etag);
    expect((await http.get(`/v1/memories/${id}`)).headers.etag).toBe(first);
    const changed = await patch(id, { importance: 1 }, { 'if-match': first });
    expect(changed.statusCode).toBe(200);
    expect(changed.headers.etag).not.toBe(first);
    const stale = await patch(id, { importance: 0 }, { 'if-match': first });
    expect(stale.statusCode).toBe(412);
    expect(wireErrorSchema.parse(stale.json()).error.code).toBe('precondition_failed');
    expect((await http.get(`/v1/memories/${id}`)).json().importance).toBe(1);
  });

  test.each([
    ['*', 200],
    ['W/"1"', 412],
    ['"abc"', 412],
    ['1', 412],
    ['"999999999999"', 412],
    ['"1", "2"', 412],
  ])('If-Match: %s answers %i', async (ifMatch, status) => {
    const { id } = (await write(`Match ${ifMatch}.`)).json().entry;
    expect((await patch(id, { importance: 1 }, { 'if-match': ifMatch })).statusCode).toBe(status);
  });

  test('a precondition where none is looked at is refused, not ignored', async () => {
    const { id } = (await write('Not looked at.')).json().entry;
    const response = await http.inject({
      method: 'DELETE',
      url: `/v1/memories/${id}`,
      headers: { 'if-match': '"1"' },
    });
    expect(response.statusCode).toBe(400);
    expect((await http.get(`/v1/memories/${id}`)).json().lifecycle).toBe('live');
  });
});

describe('Idempotency-Key', () => {
  test('the same key and request give the same answer, headers included, and one entry', async () => {
    const headers = { 'idempotency-key': 'create-1' };
    const first = await write('Idempotent.', headers);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    const again = await write('Idempotent.', headers);
    expect([again.statusCode, again.body]).toEqual([201, first.body]);
    expect(again.headers).toMatchObject({
      'idempotency-replayed': 'true',
      location: first.headers.location,
      etag: first.headers.etag,
    });
  });

  test('another request under the same key is a conflict', async () => {
    const headers = { 'idempotency-key': 'create-2' };
    await write('One.', headers);
    expect((await write('Two.', headers)).statusCode).toBe(409);
    const elsewhere = await http.inject({ method: 'DELETE', url: '/v1/rules?pattern=a.b', headers });
    expect(elsewhere.statusCode).toBe(409);
  });

  test('an answer without a body is given again too', async () => {
    const { id } = (await write('Purged once.')).json().entry;
    const request: InjectOptions = {
      method: 'POST',
      url: `/v1/memories/${id}/purge`,
      headers: { 'idempotency-key': 'purge-1' },
    };
    const [first, again] = [await http.inject(request), await http.inject(request)];
    expect([first.statusCode, first.body, again.statusCode, again.body]).toEqual([204, '', 204, '']);
    expect((await http.inject({ ...request, headers: {} })).statusCode).toBe(404);
  });

  test('a request that failed may be repeated under its key', async () => {
    const headers = { 'idempotency-key': 'create-3' };
    expect((await write(' ', headers)).statusCode).toBe(400);
    expect((await write('Mended.', headers)).statusCode).toBe(201);
  });

  test('parallel repetitions are one write', async () => {
    const headers = { 'idempotency-key': 'create-4' };
    const responses = await Promise.all(Array.from({ length: 10 }, () => write('At once.', headers)));
    const created = responses.filter(({ statusCode }) => statusCode === 201);
    const waiting = responses.filter(({ statusCode }) => statusCode === 409);
    expect(created.length + waiting.length).toBe(10);
    expect(new Set(created.map(({ body }) => body)).size).toBe(1);
    for (const response of waiting) expect(response.headers['retry-after']).toBe('1');
  });

  test('a route that can not keep its answer says so, and a key of another kind is refused', async () => {
    const payload = JSON.stringify({ user_id: 'kim', name: 'k', scopes: ['read'] });
    const headers = { ...JSON_BODY, 'idempotency-key': 'k' };
    const response = await http.inject({ method: 'POST', url: '/v1/keys', payload, headers });
    expect([response.statusCode, response.json().error.details[0].path]).toEqual([400, 'idempotency-key']);
    expect((await write('Long key.', { 'idempotency-key': 'x'.repeat(256) })).statusCode).toBe(400);
    const search = await http.inject({ method: 'POST', url: '/v1/memories/search', payload: '{}', headers });
    expect(search.statusCode).toBe(200);
  });
});

describe('X-Request-Id', () => {
  test('a caller’s own is used in the answer, the error, the log and the audit', async () => {
    const headers = { 'x-request-id': 'order-66:retry.1' };
    const refused = await write(' ', headers);
    expect(refused.headers['x-request-id']).toBe('order-66:retry.1');
    expect(refused.json().error.request_id).toBe('order-66:retry.1');
    expect(http.logged()).toContain('"request_id":"order-66:retry.1"');
    await write('Recorded.', headers);
    const { records } = (await http.get('/v1/audit?action=write&limit=1')).json();
    expect(records[0].detail.request_id).toBe('order-66:retry.1');
  });

  test.each(['', 'a b', 'x'.repeat(129), 'a"b', 'é'])('%j is none', async (id) => {
    const response = await http.inject({ method: 'GET', url: '/livez', headers: { 'x-request-id': id } });
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('whom a request is made for', () => {
  test.each([
    ['palimpsest-agent-id', '%zz'],
    ['palimpsest-agent-id', '%00'],
    ['palimpsest-task-id', ''],
    ['palimpsest-session-id', 'x'.repeat(129)],
    ['palimpsest-origin', 'robot'],
  ])('%s: %s is refused', async (name, value) => {
    const response = await write('Subject.', { [name]: value });
    expect([response.statusCode, response.json().error.details[0].path]).toEqual([400, name]);
  });
});

describe('numbers in query strings and bodies (limits are refused, not clamped)', () => {
  test.each(['-1', '0', 'abc', '1e9', '1.5', '', ' 5', '501', 'NaN', '0x10'])('limit=%s', async (limit) => {
    for (const url of ['/v1/memories', '/v1/namespaces', '/v1/audit', '/v1/traces']) {
      const response = await http.get(`${url}?limit=${encodeURIComponent(limit)}`);
      expect([url, response.statusCode]).toEqual([url, 400]);
      expect(response.json().error.details[0].path).toBe('limit');
    }
  });

  test.each([0, 1.5, -1, 201, 1e9, '5', null])('top_k %j', async (topK) => {
    for (const url of ['/v1/memories/search', '/v1/memories/relevant']) {
      expect((await http.post(url, { query: 'x', top_k: topK })).statusCode).toBe(400);
    }
  });
});

describe('limits of rate', () => {
  test('each key has its own, told in the standard headers; refused credentials count by address', async () => {
    const limited = await openTestHttp({ asksForKeys: true, rateLimit: { requests: 3, windowSeconds: 60 } });
    try {
      const [ada, bob] = [await limited.makeKey('ada'), await limited.makeKey('bob')];
      const list = (key: string) =>
        limited.inject({ method: 'GET', url: '/v1/memories', headers: { 'x-api-key': key } });
      const first = await list(ada);
      expect(first.headers).toMatchObject({ 'ratelimit-limit': '3', 'ratelimit-remaining': '2' });
      expect(Number(first.headers['ratelimit-reset'])).toBeGreaterThan(0);
      await list(ada);
      await list(ada);
      const fourth = await list(ada);
      expect(fourth.statusCode).toBe(429);
      expect(wireErrorSchema.parse(fourth.json()).error.code).toBe('rate_limited');
      expect(Number(fourth.headers['retry-after'])).toBeGreaterThan(0);
      expect((await list(bob)).statusCode).toBe(200);

      const wrong = [];
      for (let attempt = 0; attempt < 4; attempt += 1)
        wrong.push((await list(`${ada.slice(0, -1)}_`)).statusCode);
      expect(wrong).toEqual([401, 401, 401, 429]);
      expect((await limited.get('/livez')).statusCode).toBe(200);
    } finally {
      await limited.close();
    }
  });
});

describe('browsers', () => {
  const preflight = (app: TestHttp, origin: string) =>
    app.inject({
      method: 'OPTIONS',
      url: '/v1/memories',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });

  test('no page of another origin may use the API unless it is configured', async () => {
    const response = await preflight(http, 'https://console.example.com');
    expect(response.headers).not.toHaveProperty('access-control-allow-origin');
    expect(response.statusCode).toBe(404);
    const get = await http.inject({
      method: 'GET',
      url: '/v1/memories',
      headers: { origin: 'https://evil.example' },
    });
    expect(get.headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('a configured origin may, and only that one', async () => {
    const open = await openTestHttp({ asksForKeys: true, corsOrigins: ['https://console.example.com'] });
    try {
      const allowed = await preflight(open, 'https://console.example.com');
      expect(allowed.statusCode).toBe(204);
      expect(allowed.headers['access-control-allow-origin']).toBe('https://console.example.com');
      expect(String(allowed.headers['access-control-allow-headers'])).toContain('palimpsest-agent-id');
      expect(allowed.headers).not.toHaveProperty('access-control-allow-credentials');
      expect((await preflight(open, 'https://evil.example')).headers).not.toHaveProperty(
        'access-control-allow-origin',
      );
      const refused = await open.inject({
        method: 'GET',
        url: '/v1/memories',
        headers: { origin: 'https://console.example.com' },
      });
      expect(refused.statusCode).toBe(401);
      expect(String(refused.headers['access-control-expose-headers'])).toContain('etag');
    } finally {
      await open.close();
    }
  });

  test('answers are data: not run, not framed, not guessed at, not kept', async () => {
    const { headers } = await http.get('/v1/memories?limit=1');
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('server');
  });
});

describe('the log of a run', () => {
  test('has no key, no content, no query, no token', async () => {
    const asked = await openTestHttp({ asksForKeys: true });
    try {
      const key = await asked.makeKey('ada', { scopes: KEY_SCOPES });
      const word = 'chrysanthemum';
      const headers = { ...JSON_BODY, authorization: `Bearer ${key}` };
      const send = (method: 'POST' | 'GET' | 'PUT', url: string, body?: unknown, more = {}) =>
        asked.inject({
          method,
          url,
          headers: { ...headers, ...more },
          ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
        });
      await send('POST', '/v1/memories', {
        namespace: 'vector.user.ada.n',
        content: word,
        metadata: { [word]: word },
      });
      await send('POST', '/v1/memories', { namespace: 'vector.user.ada.n', content: word, [word]: 1 });
      await send('POST', '/v1/memories/search', { query: word, explain: true });
      await send('GET', `/v1/memories?text=${word}&metadata=${word}`);
      const made = await send('POST', '/v1/keys', { user_id: 'bob', name: word, scopes: ['read'] });
      await send('GET', '/v1/memories', undefined, { authorization: `Bearer eyJ${word}.eyJ.sig` });
      await send('GET', '/v1/memories', undefined, { 'x-api-key': key });
      await send(
        'POST',
        '/v1/memories',
        { namespace: 'vector.user.ada.n', content: word },
        { 'idempotency-key': word },
      );
      const log = asked.logged();
      expect(log).toContain('"path":"/v1/memories/search"');
      expect(log).toContain('"code":"unauthenticated"');
      for (const secret of [word, key, key.slice(25), made.json().secret]) expect(log).not.toContain(secret);
    } finally {
      await asked.close();
    }
  });
});

describe('streams', () => {
  const importLines = (payload: string, query = '') =>
    http.inject({ method: 'POST', url: `/v1/import${query}`, payload, headers: LINES_BODY });

  test('an import tells what it stored, and importing its export again refreshes it', async () => {
    const lines = Array.from({ length: 1001 }, (_, index) =>
      JSON.stringify({ namespace: 'stream.a', content: `Line ${index}.`, metadata: { some_key: index } }),
    );
    const report = wireImportReportSchema.parse((await importLines(lines.join('\n'))).json());
    expect(report).toEqual({
      status: 'done',
      lines: 1001,
      stored: 1001,
      created: 1001,
      refreshed: 0,
      error: null,
    });
    const exported = await http.get('/v1/export?namespace=stream.a');
    expect(exported.headers['content-type']).toContain('application/x-ndjson');
    expect(exported.body.trimEnd().split('\n')).toHaveLength(1001);
    expect((await importLines(exported.body)).json()).toMatchObject({
      stored: 1001,
      created: 0,
      refreshed: 1001,
    });
  });

  test('the line that failed is named, and what was stored before it stays', async () => {
    const good = Array.from({ length: 500 }, (_, index) => `{"content":"Good ${index}."}`);
    const response = await importLines([...good, '', '{"content":" "}'].join('\n'), '?namespace=stream.b');
    expect(response.statusCode).toBe(400);
    const { error } = wireErrorSchema.parse(response.json());
    expect(error.details[0]).toMatchObject({ line: 502, path: 'content' });
    expect(error.message).toMatch(/^Line 502: .* Stored before it: 500\./s);
    expect((await http.get('/v1/stats?namespace=stream.b')).json().live_count).toBe(500);
  });

  test('progress is told while it runs, and how it ended in the last line', async () => {
    const done = await importLines(
      '{"content":"One."}\n{"content":"Two."}',
      '?namespace=stream.c&progress=lines',
    );
    const reports = done.body
      .trimEnd()
      .split('\n')
      .map((line) => wireImportReportSchema.parse(JSON.parse(line)));
    expect(reports.at(-1)).toMatchObject({ status: 'done', stored: 2 });
    const failed = await importLines('{"content":"Three."}\n{', '?namespace=stream.c&progress=lines');
    const last = wireImportReportSchema.parse(JSON.parse(failed.body.trimEnd().split('\n').at(-1) ?? ''));
    expect(last).toMatchObject({ status: 'failed', error: { code: 'invalid_input' } });
    expect(last.error?.message).toContain('Line 2');
  });

  test.each(['', '&progress=lines'])('a line that is refused is not in the log (%s)', async (progress) => {
    const secret = 'tell nobody';
    const response = await importLines(
      JSON.stringify({ content: 'x', type: `${secret}\0` }),
      `?namespace=stream.d${progress}`,
    );
    expect(response.body).toContain(secret);
    expect(http.logged()).toContain('"code":"invalid_input"');
    expect(http.logged()).not.toContain(secret);
  });

  test('nothing to import is an import of nothing; JSON is no lines, and lines are no JSON', async () => {
    expect((await importLines('')).json()).toMatchObject({ status: 'done', stored: 0 });
    const json = await http.inject({ method: 'POST', url: '/v1/import', payload: '{}', headers: JSON_BODY });
    expect(json.statusCode).toBe(415);
    const lines = await http.inject({
      method: 'POST',
      url: '/v1/memories',
      payload: '{}',
      headers: LINES_BODY,
    });
    expect(lines.statusCode).toBe(415);
  });

  test('an export that nobody may have is a refusal, not an empty stream', async () => {
    const response = await http.get('/v1/export?lifecycle=dead');
    expect(response.statusCode).toBe(400);
  });

  test('an export reads on only as its reader does, and stops when the reader leaves', async () => {
    const content = 'x'.repeat(60_000);
    const lines = Array.from({ length: 600 }, (_, index) =>
      JSON.stringify({ namespace: 'stream.big', content: `${index} ${content}` }),
    );
    expect((await importLines(lines.join('\n'))).json().stored).toBe(600);
    let pages = 0;
    const { service } = http.opened;
    const slow = await openTestHttp({
      service: {
        ...service,
        exportEntries: async function* (context, request) {
          for await (const entry of service.exportEntries(context, request)) {
            pages += 1;
            yield entry;
          }
        },
      },
    });
    const server = await serveHttp(slow.app, { host: '127.0.0.1', port: 0 });
    try {
      const leave = await new Promise<() => void>((resolve, reject) => {
        const sent = httpRequest(`${server.url}/v1/export?namespace=stream.big`, (response) => {
          response.once('data', () => {
            response.pause();
            resolve(() => sent.destroy());
          });
        });
        sent.once('error', reject);
        sent.end();
      });
      const readWhilePaused = await atRest(() => pages);
      // 600 entries are 36 MB; what buffers on the way hold is a part of it.
      expect(readWhilePaused).toBeGreaterThan(0);
      expect(readWhilePaused).toBeLessThan(500);
      leave();
      expect(await atRest(() => pages)).toBeLessThanOrEqual(readWhilePaused + 2);
    } finally {
      await server.close();
      await slow.close();
    }
  });
});
