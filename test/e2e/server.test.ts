import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ServerProcess, startServer } from '../helpers/server-process.ts';
import { describeOrSkip } from '../helpers/skip.ts';
import { storedContents } from '../helpers/stored-contents.ts';
import { createDatabase, DATABASE_URL } from '../helpers/test-database.ts';

const NAMESPACE = 'team.notes';

/** Writes one text after another and kills the server in the middle; gives the texts it acknowledged. */
async function writeUntilKilled(server: ServerProcess, prefix: string, killAfter: number): Promise<string[]> {
  const acknowledged: string[] = [];
  let ended: Promise<unknown> | undefined;
  for (let number = 0; ; number += 1) {
    const content = `${prefix} ${number}`;
    try {
      const response = await server.post('/v1/memories', { namespace: NAMESPACE, content });
      if (response.ok) acknowledged.push(content);
    } catch {
      // The connection ends with the killed process: this write was not acknowledged.
      await ended;
      return acknowledged;
    }
    if (acknowledged.length === killAfter) {
      // A few milliseconds later, so that the kill falls into different steps of the writes that follow.
      ended = sleep((killAfter * 3) % 11).then(() => server.end('SIGKILL'));
    }
  }
}

async function expectNothingLostOverKills(args: readonly string[], kills: number): Promise<void> {
  const acknowledged: string[] = [];
  for (let round = 0; round < kills; round += 1) {
    const server = await startServer(args);
    acknowledged.push(...(await writeUntilKilled(server, `round ${round}`, 3 + round)));
  }
  const server = await startServer(args);
  const stored = await storedContents(server);
  expect(await server.end('SIGTERM')).toBe(0);
  expect(acknowledged.length).toBeGreaterThan(3 * kills);
  expect(acknowledged.filter((content) => !stored.has(content))).toEqual([]);
}

/** A request whose body does not end. */
async function startImport(url: string): Promise<ClientRequest> {
  const writer = request(new URL('/v1/import', url), {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
  });
  writer.on('error', () => {});
  await once(writer, 'socket');
  await new Promise<void>((resolve) => writer.write('\n', () => resolve()));
  return writer;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

describe('a server on an embedded store', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'palimpsest-e2e-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it('loses no acknowledged write over ten SIGKILLs in a write loop (CASES F3)', async () => {
    await expectNothingLostOverKills(['--data-dir', dataDir], 10);
  });

  it('refuses a second server on its directory, says who holds it, and is unharmed', async () => {
    const first = await startServer(['--data-dir', dataDir]);
    await expect(startServer(['--data-dir', dataDir])).rejects.toThrow(
      new RegExp(`ended with 3[^]*${first.pid}[^]*${first.url}`),
    );
    const response = await first.post('/v1/memories', { namespace: NAMESPACE, content: 'still here' });
    expect(response.status).toBe(201);
    expect(await storedContents(first)).toEqual(new Set(['still here']));
    expect(await first.end('SIGTERM')).toBe(0);
  });

  it('takes back where it serves, and what it wants to be shown, before another may take its port', async () => {
    const server = await startServer(['--data-dir', dataDir]);
    const { port } = new URL(server.url);
    // A request without an end: the server waits for it with its port closed and the directory held.
    const endless = await startImport(server.url);
    const ended = server.end('SIGTERM');
    while (await isListening(Number(port))) await sleep(5);
    const record = join(dataDir, 'palimpsest.holder.json');
    expect(existsSync(record) ? readFileSync(record, 'utf8') : '').not.toMatch(/"url"|oken"/);
    endless.destroy();
    await ended;
  });

  it('finishes the requests that run when it is told to stop', async () => {
    const server = await startServer(['--data-dir', dataDir]);
    const writes = Array.from({ length: 20 }, (_, number) =>
      server.post('/v1/memories', { namespace: NAMESPACE, content: `text ${number}` }),
    );
    await Promise.race(writes);
    const ended = server.end('SIGTERM');
    const answers = await Promise.allSettled(writes);
    expect(await ended).toBe(0);
    const acknowledged = answers.filter((answer) => answer.status === 'fulfilled' && answer.value.ok).length;
    const again = await startServer(['--data-dir', dataDir]);
    expect((await storedContents(again)).size).toBeGreaterThanOrEqual(acknowledged);
    expect(acknowledged).toBeGreaterThan(0);
    await again.end('SIGTERM');
  });
});

const noServer = DATABASE_URL === undefined ? 'DATABASE_URL is not set' : undefined;

describeOrSkip(noServer, 'two servers on one PostgreSQL', () => {
  it('make one entry of fifty parallel writes of one text (CASES F1)', async () => {
    const database = await createDatabase();
    try {
      const args = ['--database-url', database.url];
      // Both find an empty database: they migrate it at the same time, too.
      const servers = await Promise.all([startServer(args), startServer(args)]);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, number) =>
          servers[number % 2]?.post('/v1/memories', { namespace: NAMESPACE, content: 'the same text' }),
        ),
      );
      const bodies = await Promise.all(
        answers.map((answer) => answer?.json() as Promise<{ entry: { id: string } }>),
      );
      expect(answers.every((answer) => answer?.ok)).toBe(true);
      expect(new Set(bodies.map(({ entry }) => entry.id)).size).toBe(1);
      for (const server of servers) expect((await storedContents(server)).size).toBe(1);
      expect(await Promise.all(servers.map((server) => server.end('SIGTERM')))).toEqual([0, 0]);
    } finally {
      await database.drop();
    }
  });

  it('keep all of twenty parallel creates (CASES F2)', async () => {
    const database = await createDatabase();
    try {
      const args = ['--database-url', database.url];
      const servers = await Promise.all([startServer(args), startServer(args)]);
      const creates = await Promise.all(
        Array.from({ length: 20 }, (_, number) =>
          servers[number % 2]?.post('/v1/memories', { namespace: NAMESPACE, content: `text ${number}` }),
        ),
      );
      expect(creates.every((answer) => answer?.status === 201)).toBe(true);
      for (const server of servers) expect((await storedContents(server)).size).toBe(20);
      await Promise.all(servers.map((server) => server.end('SIGTERM')));
    } finally {
      await database.drop();
    }
  });

  it('lose no acknowledged write over three SIGKILLs', async () => {
    const database = await createDatabase();
    try {
      await expectNothingLostOverKills(['--database-url', database.url], 3);
    } finally {
      await database.drop();
    }
  });
});
