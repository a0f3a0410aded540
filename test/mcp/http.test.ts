import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestMcp, type TestMcp } from '../helpers/test-mcp.ts';

/** What stands between HTTP and the tools. */

let mcp: TestMcp;
beforeAll(async () => {
  mcp = await openTestMcp();
});
afterAll(() => mcp.close());

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

const send = (body: unknown, headers: Record<string, string> = {}, method = 'POST') =>
  fetch(`${mcp.url}/mcp`, {
    method,
    headers: { ...HEADERS, ...headers },
    ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
  });

test('there are no sessions: a request is answered by itself, as JSON, in any order and many at once', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, id) => send({ ...LIST, id })));
  for (const [id, response] of answers.entries()) {
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(response.headers.get('mcp-session-id')).toBeNull();
    expect(response.headers.get('x-request-id')).not.toBeNull();
    expect(await response.json()).toMatchObject({ id, result: { tools: expect.any(Array) } });
  }
});

test('a notification is taken without an answer', async () => {
  const response = await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  expect([response.status, await response.text()]).toEqual([202, '']);
});

test.each(['GET', 'DELETE'])('%s says that there is no stream and no session', async (method) => {
  const response = await send(null, {}, method);
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('POST');
});

describe('refused:', () => {
  test('what is no JSON, no JSON-RPC, or of another type', async () => {
    const notJson = await fetch(`${mcp.url}/mcp`, { method: 'POST', headers: HEADERS, body: '{' });
    expect(notJson.status).toBe(400);
    expect((await send({ hello: 'there' })).status).toBe(400);
    expect((await send(LIST, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await send(LIST, { accept: 'text/html' })).status).toBe(406);
  });

  test('a batch, which would be counted as one request', async () => {
    const response = await send([LIST, { ...LIST, id: 2 }]);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('no batches') },
      id: null,
    });
  });

  test('a page of another origin', async () => {
    expect((await send(LIST, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await send(LIST, { origin: 'null' })).status).toBe(403);
    expect((await send(LIST, { origin: mcp.url })).status).toBe(200);
  });

  test('a name that only points to this machine', async () => {
    // `fetch` sets the Host header itself.
    const status = await new Promise((resolve, reject) => {
      const { port } = new URL(mcp.url);
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path: '/mcp',
          method: 'POST',
          headers: { ...HEADERS, host: `evil.example:${port}` },
        },
        (response) => resolve(response.statusCode),
      );
      sent.on('error', reject);
      sent.end(JSON.stringify(LIST));
    });
    expect(status).toBe(403);
  });
});

test('what a tool was sent is not in the log', async () => {
  const call = {
    ...LIST,
    method: 'tools/call',
    params: { name: 'memory_search', arguments: { query: 'a very private question' } },
  };
  expect((await send(call)).status).toBe(200);
  expect(mcp.logged()).toContain('"path":"/mcp"');
  expect(mcp.logged()).not.toContain('very private');
});

test('what the protocol has no use for is not in the log either', async () => {
  const secret = 'a very secret answer';
  const unasked = [
    { jsonrpc: '2.0', id: 7, result: { secret } },
    {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 7, progress: 1, message: secret },
    },
    { jsonrpc: '2.0', secret },
  ];
  for (const message of unasked) expect((await send(message)).status).toBeLessThan(500);
  expect(mcp.logged()).toContain('The protocol met a fault');
  expect(mcp.logged()).not.toContain(secret);
});

test('an unknown tool and an unknown method are errors of the protocol', async () => {
  const unknownTool = { ...LIST, method: 'tools/call', params: { name: 'search', arguments: {} } };
  expect(await (await send(unknownTool)).json()).toMatchObject({ error: { code: -32602 } });
  expect(await (await send({ ...LIST, method: 'tools/delete' })).json()).toMatchObject({
    error: { code: -32601 },
  });
});
