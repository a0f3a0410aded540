import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { PalimpsestError } from '../../src/core/errors.ts';
import { serveHttp } from '../../src/http/serve-http.ts';
import { LOCAL_IDENTITY } from '../../src/service/local-operator.ts';
import { openTestHttp } from '../helpers/test-http.ts';

/** One GET over a connection that would be kept. */
function get(url: string, agent: Agent): Promise<{ status: number; connection: string | undefined }> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      response.resume();
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }),
      );
    })
      .once('error', reject)
      .end();
  });
}

test('requests that run when the server is told to stop are finished; then nothing listens', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const http = await openTestHttp({
    identify: async () => {
      begun();
      await held;
      return LOCAL_IDENTITY;
    },
  });
  const agent = new Agent({ keepAlive: true });
  const server = await serveHttp(http.app, { host: '127.0.0.1', port: 0 });
  try {
    const running = get(`${server.url}/v1/memories`, agent);
    await hasBegun;
    const closing = server.close();
    const outcome = await Promise.race([
      closing.then(() => 'closed'),
      new Promise((next) => setImmediate(next, 'open')),
    ]);
    expect(outcome).toBe('open');
    release();
    expect(await running).toEqual({ status: 200, connection: 'close' });
    await closing;
    await expect(get(`${server.url}/livez`, agent)).rejects.toThrow('ECONNREFUSED');
  } finally {
    agent.destroy();
    await http.close();
  }
});

test('a request that never ends is cut off after the time to drain', async () => {
  let begun = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const http = await openTestHttp({
    identify: () => {
      begun();
      return new Promise(() => {});
    },
  });
  const agent = new Agent({ keepAlive: true });
  const server = await serveHttp(http.app, { host: '127.0.0.1', port: 0, drainMs: 50 });
  try {
    const running = get(`${server.url}/v1/memories`, agent);
    const cutOff = expect(running).rejects.toThrow('socket hang up');
    await hasBegun;
    await server.close();
    await cutOff;
  } finally {
    agent.destroy();
    await http.close();
  }
});

test('a port that is taken is said to be', async () => {
  const first = await openTestHttp();
  const second = await openTestHttp();
  const server = await serveHttp(first.app, { host: '127.0.0.1', port: 0 });
  try {
    const port = Number(new URL(server.url).port);
    const outcome: unknown = await serveHttp(second.app, { host: '127.0.0.1', port }).catch(
      (error: unknown) => error,
    );
    expect(PalimpsestError.isInstance(outcome) && outcome.code).toBe('invalid_config');
    expect(String(outcome)).toContain('another process listens there');
  } finally {
    await server.close();
    await first.close();
    await second.close();
  }
});
