import { afterAll, beforeAll, expect, test } from 'vitest';
import { JSON_BODY, openTestHttp, type TestHttp } from '../helpers/test-http.ts';

let http: TestHttp;

beforeAll(async () => {
  http = await openTestHttp();
});

afterAll(() => http.close());

const DRAFT = { namespace: 'new', content: 'Written once.' };

function send(method: 'POST' | 'PATCH' | 'GET', url: string, ifNoneMatch: string, body?: unknown) {
  const headers = { ...JSON_BODY, 'if-none-match': ifNoneMatch };
  return http.inject({
    method,
    url,
    headers,
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
}

test('If-None-Match: * stores new entries and refreshes none', async () => {
  const created = await send('POST', '/v1/memories', '*', DRAFT);
  expect(created.statusCode).toBe(201);
  const { entry } = created.json();

  const refused = await send('POST', '/v1/memories', ' * ', { ...DRAFT, tags: ['late'] });
  expect(refused.statusCode).toBe(412);
  expect(refused.json().error).toMatchObject({ code: 'precondition_failed', details: [{ got: entry.id }] });

  const batch = { memories: [{ ...DRAFT, content: 'Another.' }, DRAFT] };
  const refusedBatch = await send('POST', '/v1/memories/batch', '*', batch);
  expect(refusedBatch.statusCode).toBe(412);
  expect(refusedBatch.json().error.details[0].item).toBe(1);

  expect((await http.get('/v1/memories?namespace=new')).json().entries).toEqual([entry]);
});

test('a tag, and a write that makes no entry, are refused rather than taken for a condition that held', async () => {
  const { entry } = (await http.post('/v1/memories', { ...DRAFT, content: 'Tagged.' })).json();
  const withTag = await send('POST', '/v1/memories', '"1"', DRAFT);
  expect(withTag.json().error).toMatchObject({ code: 'invalid_input', details: [{ allowed: '*' }] });
  const patched = await send('PATCH', `/v1/memories/${entry.id}`, '*', { importance: 1 });
  expect(patched.json().error).toMatchObject({
    code: 'invalid_input',
    details: [{ path: 'if-none-match', allowed: 'POST of new entries' }],
  });
});

test('a read that a cache sent with a tag is answered', async () => {
  expect((await send('GET', '/v1/memories?namespace=new', '"1"')).statusCode).toBe(200);
});

test('the condition makes a request another one to its idempotency key', async () => {
  const headers = { ...JSON_BODY, 'idempotency-key': 'condition-1' };
  const payload = JSON.stringify({ ...DRAFT, content: 'Keyed.' });
  const request = { method: 'POST', url: '/v1/memories', payload } as const;
  expect((await http.inject({ ...request, headers })).statusCode).toBe(201);
  const conditional = await http.inject({ ...request, headers: { ...headers, 'if-none-match': '*' } });
  expect(conditional.statusCode).toBe(409);
});
