import { type OutgoingHttpHeaders, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wireErrorSchema } from '../../src/contract/error-body.ts';
import { type HttpServer, serveHttp } from '../../src/http/serve-http.ts';
import { JSON_BODY, openTestHttp, type TestHttp } from '../helpers/test-http.ts';

/** On a real port: Node itself decides what becomes of a header that stands twice. */

let http: TestHttp;
let server: HttpServer;
let ada: string;
let bob: string;

beforeAll(async () => {
  http = await openTestHttp({ asksForKeys: true });
  server = await serveHttp(http.app, { host: '127.0.0.1', port: 0 });
  ada = `Bearer ${await http.makeKey('ada')}`;
  bob = `Bearer ${await http.makeKey('bob')}`;
});

afterAll(async () => {
  await server.close();
  await http.close();
});

let count = 0;

/** Writes an entry of Ada's; a list of values is a header that stands so often. */
function write(headers: OutgoingHttpHeaders): Promise<{ status: number | undefined; body: string }> {
  count += 1;
  const payload = JSON.stringify({ namespace: 'vector.user.ada.notes', content: `Note ${count}.` });
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}/v1/memories`,
      { method: 'POST', headers: { ...JSON_BODY, authorization: ada, ...headers } },
      (response) => {
        let body = '';
        response.on('data', (part) => {
          body += part;
        });
        response.on('end', () => resolve({ status: response.statusCode, body }));
      },
    );
    sent.on('error', reject);
    sent.end(payload);
  });
}

test.each<[string, () => string[]]>([
  ['authorization', () => [ada, bob]],
  ['authorization', () => [ada, ada]],
  ['x-api-key', () => ['pal_a', 'pal_b']],
  ['idempotency-key', () => ['one', 'other']],
  ['if-none-match', () => ['*', '*']],
  ['palimpsest-agent-id', () => ['helper', 'nobody']],
  ['palimpsest-task-id', () => ['a', 'b']],
  ['palimpsest-chat-id', () => ['a', 'b']],
  ['palimpsest-session-id', () => ['a', 'b']],
  ['palimpsest-origin', () => ['tool_call', 'tool_call']],
  ['content-type', () => ['application/json', 'text/plain']],
  ['origin', () => [server.url, 'https://evil.example']],
])('%s twice is refused: nobody has to guess which one counts', async (name, values) => {
  const { status, body } = await write({ [name]: values() });
  expect(status, body).toBe(400);
  const { code, details } = wireErrorSchema.parse(JSON.parse(body)).error;
  expect(code).toBe('invalid_input');
  expect(details[0]).toMatchObject({ path: name, got: 2, allowed: 'once' });
  expect(body).not.toContain(ada.slice(-20));
});

test('other headers may stand as often as they like', async () => {
  const { status } = await write({
    accept: ['application/json', 'text/html'],
    'x-forwarded-for': ['a', 'b'],
  });
  expect(status).toBe(201);
});
