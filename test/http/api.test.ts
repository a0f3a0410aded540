import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wireErrorSchema } from '../../src/contract/error-body.ts';
import { wireListPageSchema } from '../../src/contract/list-page.ts';
import { wireEntrySchema } from '../../src/contract/memory-entry.ts';
import { wireRecallAnswerSchema } from '../../src/contract/recall-answer.ts';
import { wireBatchResultSchema, wireWriteResultSchema } from '../../src/contract/write-result.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { JSON_BODY, openTestHttp, type TestHttp } from '../helpers/test-http.ts';

let http: TestHttp;

beforeAll(async () => {
  http = await openTestHttp();
});

afterAll(() => http.close());

const UNKNOWN_ID = '0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f';

describe('every route answers what its schema says', () => {
  test('store, refresh, read, list, search, relevant', async () => {
    const draft = {
      namespace: 'routes',
      content: 'We deploy on Tuesdays.',
      metadata: { userName: 1, user_name: 2 },
    };
    const created = await http.post('/v1/memories', draft);
    expect(created.statusCode).toBe(201);
    const { operation, entry } = wireWriteResultSchema.parse(created.json());
    expect(operation).toBe('create');
    expect(entry).toMatchObject({ ...draft, lifecycle: 'live', status: 'unconfirmed', importance: 0.5 });
    expect(created.headers.location).toBe(`/v1/memories/${entry.id}`);

    const refreshed = await http.post('/v1/memories', draft);
    expect(refreshed.statusCode).toBe(200);
    expect(wireWriteResultSchema.parse(refreshed.json())).toMatchObject({
      operation: 'refresh',
      entry: { id: entry.id, created_at: entry.created_at },
    });

    const batch = await http.post('/v1/memories/batch', {
      memories: [draft, { namespace: 'routes', content: 'We celebrate on Fridays.' }],
    });
    expect(wireBatchResultSchema.parse(batch.json()).results.map((result) => result.operation)).toEqual([
      'refresh',
      'create',
    ]);

    const read = await http.get(`/v1/memories/${entry.id}`);
    expect(wireEntrySchema.parse(read.json())).toMatchObject(draft);

    const first = wireListPageSchema.parse((await http.get('/v1/memories?namespace=routes&limit=1')).json());
    const second = wireListPageSchema.parse(
      (await http.get(`/v1/memories?namespace=routes&limit=1&cursor=${first.next_cursor}`)).json(),
    );
    expect([...first.entries, ...second.entries].map(({ content }) => content)).toEqual([
      'We celebrate on Fridays.',
      'We deploy on Tuesdays.',
    ]);
    expect(second.next_cursor).toBeNull();

    const query = { query: 'When do we deploy?', namespaces: ['routes'] };
    const found = wireRecallAnswerSchema.parse((await http.post('/v1/memories/search', query)).json());
    expect(found).toMatchObject({ profile: 'boosted', exact: true });
    expect(found.hits.map((hit) => hit.entry.id)).toEqual([entry.id]);
    expect(found.hits[0]?.relevance).toBe(found.hits[0]?.score);
    expect(found).not.toHaveProperty('trace');

    const relevant = wireRecallAnswerSchema.parse(
      (await http.post('/v1/memories/relevant', { ...query, explain: true })).json(),
    );
    expect(relevant.profile).toBe('weighted');
    expect(relevant.hits).toHaveLength(2);
    expect(relevant.hits[0]?.relevance).toBeNull();
    expect(relevant.trace).toMatchObject({
      id: relevant.trace_id,
      query: query.query,
      namespaces: ['routes'],
      embedding_model_id: 'hashing-512-v1',
    });
    for (const { breakdown, score } of relevant.trace?.hits ?? []) {
      const sum = breakdown?.factors.reduce((total, { contribution }) => total + contribution, 0) ?? 0;
      expect(Math.abs(sum - (score ?? 0))).toBeLessThan(1e-9);
    }
  });

  test('a search names its own profile if it wants', async () => {
    const answer = await http.post('/v1/memories/relevant', { query: 'x', profile: 'boosted' });
    expect(answer.json()).toMatchObject({ profile: 'boosted' });
  });

  test('health', async () => {
    expect((await http.get('/livez')).json()).toEqual({ status: 'live' });
    expect((await http.get('/readyz')).json()).toMatchObject({ status: 'ready', backend: 'pglite' });
  });

  test('every answer carries its request id', async () => {
    const ok = await http.get('/livez');
    const bad = await http.get('/v1/memories?limit=0');
    expect(ok.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(bad.json().error.request_id).toBe(bad.headers['x-request-id']);
  });
});

describe('bad input gets the one error shape, and nothing is written', () => {
  const DRAFT = { namespace: 'bad', content: 'Tea.' };
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);

  test.each<[string, string, unknown, string]>([
    ['an unknown field', '/v1/memories', { ...DRAFT, contents: 'x' }, 'contents'],
    ['an identity', '/v1/memories', { ...DRAFT, user_id: 'bob' }, 'user_id'],
    ['empty content', '/v1/memories', { ...DRAFT, content: '' }, 'content'],
    ['blank content', '/v1/memories', { ...DRAFT, content: ' \n' }, 'content'],
    ['a list for content', '/v1/memories', { ...DRAFT, content: [] }, 'content'],
    ['no content', '/v1/memories', { namespace: 'bad' }, 'content'],
    ['a NUL byte in content', '/v1/memories', { ...DRAFT, content: 'a\u0000' }, 'content'],
    ['a NUL byte in a namespace', '/v1/memories', { ...DRAFT, namespace: 'bad\u0000' }, 'namespace'],
    ['a NUL byte in a metadata key', '/v1/memories', { ...DRAFT, metadata: { 'a\u0000': 1 } }, 'metadata'],
    ['a NUL byte in a metadata value', '/v1/memories', { ...DRAFT, metadata: { a: '\u0000' } }, 'metadata.a'],
    ['a lone surrogate', '/v1/memories', { ...DRAFT, content: '\ud800' }, 'content'],
    ['importance above 1', '/v1/memories', { ...DRAFT, importance: 1.1 }, 'importance'],
    ['importance below 0', '/v1/memories', { ...DRAFT, importance: -1 }, 'importance'],
    ['importance as text', '/v1/memories', { ...DRAFT, importance: '0.5' }, 'importance'],
    ['a pattern for a namespace', '/v1/memories', { ...DRAFT, namespace: 'bad.*' }, 'namespace'],
    ['a date without a meaning', '/v1/memories', { ...DRAFT, observed_at: '2026-02-30' }, 'observed_at'],
    ['a megabyte of content', '/v1/memories', { ...DRAFT, content: 'x'.repeat(900_000) }, 'content'],
    [
      'a bad item',
      '/v1/memories/batch',
      { memories: [DRAFT, { ...DRAFT, content: ' ' }] },
      'memories[1].content',
    ],
    ['an empty batch', '/v1/memories/batch', { memories: [] }, 'memories'],
    ['weights', '/v1/memories/search', { query: 'x', weights: { similarity: 1 } }, 'weights'],
    ['an unknown filter', '/v1/memories/search', { query: 'x', filter: { project: 'a' } }, 'filter.project'],
    [
      'an unknown operator',
      '/v1/memories/search',
      { query: 'x', filter: { metadata: { a: { $gtr: 5 } } } },
      'filter.metadata.a.$gtr',
    ],
    [
      'a text for in',
      '/v1/memories/search',
      { query: 'x', filter: { metadata: { a: { in: 'x' } } } },
      'filter.metadata.a.in',
    ],
    ['a bad pattern', '/v1/memories/search', { query: 'x', namespaces: ['vec*'] }, 'namespaces[0]'],
    ['an empty scope', '/v1/memories/search', { query: 'x', namespaces: [] }, 'namespaces'],
    ['a blank query', '/v1/memories/search', { query: '' }, 'query'],
    ['a NUL byte in a query', '/v1/memories/search', { query: '\u0000' }, 'query'],
    ['top_k 0', '/v1/memories/search', { query: 'x', top_k: 0 }, 'top_k'],
    ['top_k 1.5', '/v1/memories/search', { query: 'x', top_k: 1.5 }, 'top_k'],
    ['top_k 1e9', '/v1/memories/search', { query: 'x', top_k: 1e9 }, 'top_k'],
    ['a negative min_score', '/v1/memories/search', { query: 'x', min_score: -0.1 }, 'min_score'],
    [
      'a relative_cutoff above 1',
      '/v1/memories/search',
      { query: 'x', relative_cutoff: 1.1 },
      'relative_cutoff',
    ],
    ['an unknown profile', '/v1/memories/search', { query: 'x', profile: 'best' }, 'profile'],
  ])('%s', async (_name, url, body, path) => {
    const response = await http.post(url, body);
    const { error } = wireErrorSchema.parse(response.json());
    expect(response.statusCode).toBe(400);
    expect(error.code).toBe('invalid_input');
    expect(error.details[0]?.path).toBe(path);
  });

  test.each<[string, string, string, number]>([
    ['NaN, which is no JSON', `{"namespace":"bad","content":"x","importance":NaN}`, 'invalid_input', 400],
    ['infinity by overflow', `{"namespace":"bad","content":"x","importance":1e999}`, 'invalid_input', 400],
    ['half a document', `{"namespace":`, 'invalid_input', 400],
    ['nothing', '', 'invalid_input', 400],
    ['null', 'null', 'invalid_input', 400],
    [
      'nesting without end',
      `{"namespace":"bad","content":"x","metadata":{"a":${deep}}}`,
      'invalid_input',
      400,
    ],
    [
      'a body beyond the limit',
      JSON.stringify({ ...DRAFT, content: 'x'.repeat(1_100_000) }),
      'payload_too_large',
      413,
    ],
  ])('%s', async (_name, payload, code, status) => {
    const response = await http.inject({ method: 'POST', url: '/v1/memories', payload, headers: JSON_BODY });
    expect(wireErrorSchema.parse(response.json()).error.code).toBe(code);
    expect(response.statusCode).toBe(status);
  });

  test('bytes that are not UTF-8', async () => {
    const payload = Buffer.concat([
      Buffer.from('{"namespace":"bad","content":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    const response = await http.inject({ method: 'POST', url: '/v1/memories', payload, headers: JSON_BODY });
    expect(response.json().error).toMatchObject({
      code: 'invalid_input',
      message: 'The body is not valid UTF-8.',
    });
  });

  test('a body of another type, or of none', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const headers = { 'content-type': type };
      const response = await http.inject({ method: 'POST', url: '/v1/memories', payload: '{}', headers });
      expect(response.statusCode).toBe(415);
      expect(wireErrorSchema.parse(response.json()).error.code).toBe('unsupported_media_type');
    }
  });

  test.each([
    ['limit=-1', 'limit'],
    ['limit=0', 'limit'],
    ['limit=abc', 'limit'],
    ['limit=1e9', 'limit'],
    ['limit=5&limit=6', 'limit'],
    ['cursor=x', 'cursor'],
    ['namespace=vec*', 'namespace[0]'],
    ['lifecycle=dead', 'lifecycle'],
    ['metadata=%7B%22a%22', 'metadata'],
    ['text=%00', 'text'],
    ['user_id=bob', 'user_id'],
    ['observed_from=2026-02-30', 'observed_from'],
  ])('a list with ?%s', async (query, path) => {
    const response = await http.get(`/v1/memories?${query}`);
    expect(response.statusCode).toBe(400);
    expect(wireErrorSchema.parse(response.json()).error.details[0]?.path).toBe(path);
  });

  test('unknown and malformed ids answer alike', async () => {
    for (const id of [UNKNOWN_ID, 'nope', '%00', 'x'.repeat(500), 'x'.repeat(5000)]) {
      const response = await http.get(`/v1/memories/${id}`);
      expect(response.statusCode).toBe(404);
      expect(wireErrorSchema.parse(response.json()).error.code).toBe('not_found');
    }
  });

  test('routes that are not there, and paths that are none', async () => {
    for (const url of ['/', '/v1', '/v1/memory', '/v1/memories/search']) {
      const response = await http.get(url);
      expect(response.statusCode).toBe(404);
      expect(wireErrorSchema.parse(response.json()).error.code).toBe('not_found');
    }
    const broken = await http.get('/v1/memories/%zz');
    expect(broken.statusCode).toBe(400);
    expect(wireErrorSchema.parse(broken.json()).error.code).toBe('invalid_input');
  });

  test('after all of it nothing is stored', async () => {
    const page = wireListPageSchema.parse(
      (await http.get('/v1/memories?namespace=bad&lifecycle=any')).json(),
    );
    expect(page.entries).toEqual([]);
  });
});

test('a key named __proto__ or constructor is an ordinary key of metadata', async () => {
  const payload =
    '{"namespace":"proto","content":"x","metadata":{"__proto__":{"a":1},"constructor":{"prototype":2}}}';
  const created = await http.inject({ method: 'POST', url: '/v1/memories', payload, headers: JSON_BODY });
  const { id } = created.json().entry;
  const read = await http.get(`/v1/memories/${id}`);
  expect(read.body).toContain('"__proto__":{"a":1}');
  expect(read.body).toContain('"constructor":{"prototype":2}');
});

test('the log has methods, paths and codes, and nothing that callers store or ask', async () => {
  const secret = 'xylophone';
  await http.post('/v1/memories', { namespace: 'log', content: `The ${secret} is blue.` });
  await http.post('/v1/memories', { namespace: 'log', content: secret, importance: 2 });
  await http.post('/v1/memories/search', { query: secret, [secret]: 1 });
  await http.get(`/v1/memories?text=${secret}`);
  await http.inject({ method: 'POST', url: '/v1/memories', payload: `{"${secret}`, headers: JSON_BODY });
  expect(http.logged()).toContain('"path":"/v1/memories/search"');
  expect(http.logged()).toContain('"code":"invalid_input"');
  expect(http.logged()).not.toContain(secret);
});

describe('what the server depends on', () => {
  test('a failing embedding provider is 502 everywhere, and never an empty list', async () => {
    const provider: EmbeddingProvider = {
      modelId: 'failing',
      dimensions: 4,
      embed: () => Promise.reject(new Error('socket hang up')),
    };
    const broken = await openTestHttp({ provider });
    try {
      const write = await broken.post('/v1/memories', { namespace: 'a', content: 'Tea.' });
      const search = await broken.post('/v1/memories/search', { query: 'tea' });
      for (const response of [write, search]) {
        expect(response.statusCode).toBe(502);
        expect(wireErrorSchema.parse(response.json()).error.code).toBe('embedding_failed');
      }
      expect((await broken.get('/v1/memories')).json().entries).toEqual([]);
      expect(broken.logged()).toContain('"code":"embedding_failed"');
    } finally {
      await broken.close();
    }
  });

  test('what nobody expected is 500, tells nothing of itself, and is in the log with its cause', async () => {
    const broken = await openTestHttp({
      identify: () => {
        throw new Error('the vault is at 10.0.0.7');
      },
    });
    try {
      const response = await broken.get('/v1/memories');
      expect(response.statusCode).toBe(500);
      expect(response.body).not.toContain('10.0.0.7');
      const { error } = wireErrorSchema.parse(response.json());
      expect(error.code).toBe('internal');
      expect(broken.logged()).toContain('the vault is at 10.0.0.7');
      expect(broken.logged()).toContain(error.request_id);
    } finally {
      await broken.close();
    }
  });
});
