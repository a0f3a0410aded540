import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { createClient } from '../../src/client/index.ts';
import { Palimpsest } from '../../src/index.ts';

/** A port of this machine that nobody listens on. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : expect.unreachable();
}

// A promise that nobody waits for, rejected, would end the process; the test runner counts it as a failure.
test('a database that is not there rejects the first call and may be tried again (CASES G18)', async () => {
  const databaseUrl = `postgres://palimpsest@127.0.0.1:${await closedPort()}/memories`;
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(Palimpsest.open({ databaseUrl })).rejects.toMatchObject({ code: 'store_unavailable' });
  }
});

test('a server that is not there rejects the first call and may be tried again (CASES G18)', async () => {
  const client = createClient({ baseUrl: `http://127.0.0.1:${await closedPort()}` });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(client.recall({ query: 'tea' })).rejects.toMatchObject({ code: 'server_unreachable' });
  }
});

test.each([
  ['a URL of another scheme', { databaseUrl: 'mysql://127.0.0.1/memories' }],
  ['a text that is no URL', { databaseUrl: 'memories' }],
  ['no connection', { databaseUrl: 'postgres://127.0.0.1/memories', maxConnections: 0 }],
  ['half a connection', { databaseUrl: 'postgres://127.0.0.1/memories', maxConnections: 1.5 }],
])('%s is refused and not tried', async (_, options) => {
  await expect(Palimpsest.open(options)).rejects.toMatchObject({ code: 'invalid_input' });
});
