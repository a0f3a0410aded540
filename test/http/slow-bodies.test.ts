import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { type HttpServer, serveHttp } from '../../src/http/serve-http.ts';
import { openTestHttp, type TestHttp } from '../helpers/test-http.ts';

/** Long enough for a busy machine to send a body in time, short enough to wait for. */
const PATIENCE_MS = 1000;

/** Texts with this word are embedded after more than the patience. */
const HOLDS_UP = 'ponderous';

let heldUpMs = 0;
let http: TestHttp;
let server: HttpServer;

function slowProvider(): EmbeddingProvider {
  const inner = createHashingProvider();
  return {
    modelId: inner.modelId,
    dimensions: inner.dimensions,
    async embed(texts, purpose, options) {
      if (texts.some((text) => text.includes(HOLDS_UP))) {
        await pause(1.2 * PATIENCE_MS);
        heldUpMs += 1.2 * PATIENCE_MS;
      }
      return inner.embed(texts, purpose, options);
    },
  };
}

beforeAll(async () => {
  http = await openTestHttp({ slowBodies: { patienceMs: PATIENCE_MS }, provider: slowProvider() });
  server = await serveHttp(http.app, { host: '127.0.0.1', port: 0 });
});

afterAll(async () => {
  await server.close();
  await http.close();
});

interface Connection {
  readonly socket: Socket;
  /** Everything the server said until it ended the connection. */
  readonly said: Promise<string>;
}

async function open(head: readonly string[]): Promise<Connection> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  const parts: string[] = [];
  const said = new Promise<string>((resolve) => {
    socket.on('data', (part) => parts.push(part.toString()));
    socket.on('error', () => {});
    socket.once('close', () => resolve(parts.join('')));
  });
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write([...head, 'Host: localhost', '', ''].join('\r\n'));
  return { socket, said };
}

/** One byte after the other, until the server has had enough. */
async function trickle(socket: Socket): Promise<void> {
  while (!socket.destroyed && socket.writable) {
    socket.write(' ');
    await pause(PATIENCE_MS / 10);
  }
}

const NEW_ENTRY = ['POST /v1/memories HTTP/1.1', 'Content-Type: application/json'];
const IMPORT = ['POST /v1/import HTTP/1.1', 'Content-Type: application/x-ndjson'];

describe('a body that comes too slowly', () => {
  test('is refused with 408, and its connection ends', async () => {
    const { socket, said } = await open([...NEW_ENTRY, 'Content-Length: 100000']);
    await trickle(socket);
    const answer = await said;
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout/);
    expect(answer).toContain('"code":"request_timeout"');
    expect(answer.toLowerCase()).toContain('connection: close');
  });

  test('that never comes at all is refused, too', async () => {
    const { said } = await open([...NEW_ENTRY, 'Content-Length: 10']);
    expect(await said).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('of an import keeps what was stored before, and says so', async () => {
    const { socket, said } = await open([...IMPORT, 'Content-Length: 1000000']);
    const lines = Array.from({ length: 300 }, (_, index) =>
      JSON.stringify({ namespace: 'slow.import', content: `line ${index}` }),
    );
    socket.write(`${lines.join('\n')}\n`);
    const answer = await said;
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toMatch(/Stored before it: \d+/);
  });

  test('after an early answer does not keep its connection', async () => {
    const { socket, said } = await open([
      'POST /v1/memories HTTP/1.1',
      'Content-Type: text/plain',
      'Content-Length: 100000',
    ]);
    await trickle(socket);
    expect(await said).toMatch(/^HTTP\/1\.1 415 /);
  });
});

test('a body that takes longer than the patience, but keeps coming, is read', async () => {
  const text = JSON.stringify({
    namespace: 'slow.steady',
    content: 'steady',
    metadata: { a: 'x'.repeat(20_000) },
  });
  const { socket, said } = await open([...NEW_ENTRY, `Content-Length: ${text.length}`, 'Connection: close']);
  for (let start = 0; start < text.length; start += 1000) {
    socket.write(text.slice(start, start + 1000));
    await pause(PATIENCE_MS / 10);
  }
  expect(await said).toMatch(/^HTTP\/1\.1 201 /);
});

test('a request that comes by no connection has none to end', async () => {
  const { statusCode } = await http.post('/v1/memories', { namespace: 'slow.injected', content: 'quick' });
  expect(statusCode).toBe(201);
  // An error of a timer fails the run.
  await pause(1.2 * PATIENCE_MS);
});

test('an import that the server itself holds up is not cut off', async () => {
  const lines = Array.from({ length: 1500 }, (_, index) =>
    JSON.stringify({ namespace: 'slow.server', content: `${HOLDS_UP} ${index} ${'x'.repeat(2000)}` }),
  );
  const text = `${lines.join('\n')}\n`;
  const head = [...IMPORT, `Content-Length: ${text.length}`, 'Connection: close'];
  const { socket, said } = await open(head);
  socket.write(text);
  const answer = await said;
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toContain('"stored":1500');
  expect(heldUpMs).toBeGreaterThan(2 * PATIENCE_MS);
});

test('headers that are too large are told so', async () => {
  const { said } = await open(['GET /livez HTTP/1.1', `X-Large: ${'x'.repeat(20_000)}`]);
  const answer = await said;
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request/);
  expect(answer).toContain('The headers of the request are larger than 16 KiB.');
});
