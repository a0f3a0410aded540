import { createServer, type Server, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { openPostgres, type PostgresOptions } from './postgres.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Without a server: what happens when there is none, or none that is one. */

const PASSWORD = 'pa55-w0rd';
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function open(options: PostgresOptions): SqlDatabase {
  const database = openPostgres(options);
  cleanups.push(() => database.close());
  return database;
}

function tryQuery(database: SqlDatabase): Promise<unknown> {
  return database
    .transaction((tx) => tx.query({ text: 'SELECT 1', values: [] }))
    .catch((error: unknown) => error);
}

/** A server that does with each connection what it is told to. */
async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The test server has no port.');
  return address.port;
}

/** A port nobody listens on. */
async function freePort(): Promise<number> {
  const port = await listen(() => {});
  await cleanups.pop()?.();
  return port;
}

describe('openPostgres without a server', () => {
  it('does not connect, so opening can not fail', () => {
    expect(open({ connectionString: 'postgres://nobody@127.0.0.1:1/none' }).backend).toBe('postgres');
  });

  it('rejects with store_unavailable and names the server when nothing listens', async () => {
    const port = await freePort();
    const error = await tryQuery(
      open({ connectionString: `postgres://user:${PASSWORD}@127.0.0.1:${port}/db` }),
    );
    expect(error).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(`127.0.0.1:${port}`),
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it.each<[what: string, connectionString: string]>([
    ['no URL at all', `not a url ${PASSWORD}`],
    ['the keyword form', `host=127.0.0.1 user=u password=${PASSWORD}`],
    ['another protocol', `mysql://u:${PASSWORD}@127.0.0.1/db`],
    ['a port that is none', `postgres://u:${PASSWORD}@127.0.0.1:port/db`],
    ['an empty string', ''],
    ['a slash in the password', `postgres://u:${PASSWORD}/x@127.0.0.1/db`],
    ['a host that does not exist', `postgres://u:${PASSWORD}@no-such-host.invalid/db`],
    ['a password as parameter', `postgres://127.0.0.1:1/db?user=u&password=${PASSWORD}`],
  ])('rejects without telling the password, given %s', async (_what, connectionString) => {
    const error = await tryQuery(open({ connectionString, connectTimeoutMs: 2_000 }));
    expect(error).toMatchObject({ name: 'PalimpsestError', code: 'store_unavailable' });
    expect(inspect(error, { depth: 10, showHidden: false })).not.toContain(PASSWORD);
    expect(JSON.stringify(error)).not.toContain(PASSWORD);
  });

  it('rejects when the server closes the connection at once', async () => {
    const port = await listen((socket) => socket.destroy());
    const error = await tryQuery(open({ connectionString: `postgres://user@127.0.0.1:${port}/db` }));
    expect(error).toMatchObject({ code: 'store_unavailable' });
  });

  it('rejects after connectTimeoutMs when the server never answers', async () => {
    const port = await listen(() => {});
    const database = open({
      connectionString: `postgres://user@127.0.0.1:${port}/db`,
      connectTimeoutMs: 100,
    });
    expect(await tryQuery(database)).toMatchObject({ code: 'store_unavailable' });
  });

  it('rejects when something else answers', async () => {
    const port = await listen((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const error = await tryQuery(
      open({ connectionString: `postgres://user@127.0.0.1:${port}/db`, connectTimeoutMs: 2_000 }),
    );
    expect(error).toMatchObject({ code: 'store_unavailable' });
  });

  it('runs the work not at all, and can be tried again', async () => {
    let runs = 0;
    const database = open({ connectionString: `postgres://user@127.0.0.1:${await freePort()}/db` });
    const attempt = () =>
      database.transaction(async () => {
        runs += 1;
      });
    await expect(attempt()).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(attempt()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(runs).toBe(0);
  });

  it('says so when it has been closed, and closes once', async () => {
    const database = openPostgres({ connectionString: 'postgres://user@127.0.0.1:1/db' });
    await Promise.all([database.close(), database.close()]);
    expect(await tryQuery(database)).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('closed'),
    });
  });
});
