import { expect, test } from 'vitest';
import { NO_TELEMETRY, type Telemetry } from '../../src/core/telemetry.ts';
import { serveHttp } from '../../src/http/serve-http.ts';
import { LOCAL_IDENTITY } from '../../src/service/local-operator.ts';
import { openTestHttp } from '../helpers/test-http.ts';

/** Writes down how requests ended. */
function noting(): { readonly ends: unknown[]; readonly telemetry: Telemetry } {
  const ends: unknown[] = [];
  const telemetry: Telemetry = {
    ...NO_TELEMETRY,
    request: ({ method, route }) => ({
      traceId: null,
      run: (work) => work(),
      end: (status, code) => void ends.push([method, route, status, code]),
    }),
  };
  return { ends, telemetry };
}

test('each request is told once, also one whose asker went away', async () => {
  const { ends, telemetry } = noting();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  let asked = 0;
  const http = await openTestHttp({
    telemetry,
    identify: async () => {
      asked += 1;
      if (isHeld) await held;
      return LOCAL_IDENTITY;
    },
  });
  const server = await serveHttp(http.app, { host: '127.0.0.1', port: 0 });
  try {
    await (await fetch(`${server.url}/v1/memories`)).text();
    await (await fetch(`${server.url}/v1/memories/0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f`)).text();
    await expect.poll(() => ends).toHaveLength(2);
    expect(ends).toEqual([
      ['GET', '/v1/memories', 200, null],
      ['GET', '/v1/memories/:id', 404, 'not_found'],
    ]);
    isHeld = true;
    const goneAway = new AbortController();
    const request = fetch(`${server.url}/v1/stats`, { signal: goneAway.signal });
    await expect.poll(() => asked).toBe(3);
    goneAway.abort();
    await expect(request).rejects.toThrow();
    await expect.poll(() => ends).toHaveLength(3);
    release();
    expect(ends[2]).toEqual(['GET', '/v1/stats', 499, null]);
  } finally {
    release();
    await server.close();
    await http.close();
  }
  expect(ends).toHaveLength(3);
});
