import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Cluster,
  killCluster,
  restartCluster,
  startCluster,
  stopCluster,
} from '../../scripts/postgres/cluster.ts';
import { obtainInstallation } from '../../scripts/postgres/debian.ts';
import { type MixedLoad, startMixedLoad } from '../helpers/mixed-load.ts';
import { type ServerProcess, startServer } from '../helpers/server-process.ts';
import { describeOrSkip } from '../helpers/skip.ts';
import { storedContents } from '../helpers/stored-contents.ts';
import { DATABASE_URL } from '../helpers/test-database.ts';

// Several starts a test, each of seconds where others need the machine too.
vi.setConfig({ testTimeout: 300_000 });

const NAMESPACE = 'team.notes';
const CLIENTS = 6;
/** The longest wait for a connection (10 s) and for the database to come up, on a machine that does much else. */
const TIME_LIMIT_MS = 60_000;

const started: ServerProcess[] = [];

async function start(args: readonly string[]): Promise<ServerProcess> {
  const server = await startServer(args);
  started.push(server);
  return server;
}

// What a failed test leaves running.
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.end('SIGKILL')));
});

function loadOn({ url }: ServerProcess): MixedLoad {
  return startMixedLoad({ url, namespace: NAMESPACE, clients: CLIENTS, timeLimitMs: TIME_LIMIT_MS });
}

async function expectAllStored(server: ServerProcess, acknowledged: readonly string[]): Promise<void> {
  const stored = await storedContents(server);
  expect(acknowledged.filter((content) => !stored.has(content))).toEqual([]);
}

async function readiness(server: ServerProcess): Promise<number> {
  return (await server.get('/readyz')).status;
}

async function untilReady(server: ServerProcess, status: number): Promise<void> {
  while ((await readiness(server)) !== status) await sleep(20);
}

/** Kills the server under load and starts it on the same port, as a supervisor would, while the load goes on. */
async function expectNothingLostByKilledServers(args: readonly string[], kills: number): Promise<void> {
  let server = await start(args);
  const load = loadOn(server);
  for (let kill = 0; kill < kills; kill += 1) {
    const goal = load.report.acknowledged.length + 12 + 5 * kill;
    await load.until(() => load.report.acknowledged.length >= goal);
    await server.end('SIGKILL');
    const lost = load.count('write lost');
    await load.until(() => load.count('write lost') > lost);
    server = await start([...args, '--port', new URL(server.url).port]);
  }
  const goal = load.report.acknowledged.length + 12;
  await load.until(() => load.report.acknowledged.length >= goal);
  const { acknowledged, faults } = await load.stop();
  expect(faults).toEqual([]);
  await expectAllStored(server, acknowledged);
  expect(await server.end('SIGTERM')).toBe(0);
}

describe('a server on an embedded store that is killed under load', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'palimpsest-outage-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it('has every acknowledged write when it is started again', async () => {
    await expectNothingLostByKilledServers(['--data-dir', dataDir], 2);
  });
});

const noServer = DATABASE_URL === undefined ? 'DATABASE_URL is not set' : undefined;

/** On a cluster of its own, which no other test misses while it is down. */
describeOrSkip(noServer, 'an outage on PostgreSQL', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    // A commit waits for its log to be written: else a killed PostgreSQL itself would lose what it acknowledged.
    cluster = await startCluster(obtainInstallation(), { synchronous_commit: 'on' });
  });
  afterAll(() => stopCluster(cluster));

  it('a killed server has every acknowledged write when it is started again', async () => {
    await expectNothingLostByKilledServers(['--database-url', cluster.url], 2);
  });

  it('a killed PostgreSQL makes 503s and no other failure, and the server heals by itself, three times', async () => {
    const server = await start(['--database-url', cluster.url]);
    const load = loadOn(server);
    for (let kill = 0; kill < 3; kill += 1) {
      const goal = load.report.acknowledged.length + 12 + 7 * kill;
      await load.until(() => load.report.acknowledged.length >= goal);
      expect(await readiness(server)).toBe(200);

      await killCluster(cluster);
      const [writes, recalls] = [load.count('write 503'), load.count('recall 503')];
      await load.until(() => load.count('write 503') > writes + 3 && load.count('recall 503') > recalls + 3);
      expect(await readiness(server)).toBe(503);

      restartCluster(cluster);
      await untilReady(server, 200);
    }
    const [goal, recalls] = [load.report.acknowledged.length + 12, load.count('recall 200') + 12];
    await load.until(() => load.report.acknowledged.length >= goal && load.count('recall 200') >= recalls);
    const { acknowledged, faults } = await load.stop();
    expect(faults).toEqual([]);
    expect(load.count('write lost') + load.count('recall lost')).toBe(0);
    await expectAllStored(server, acknowledged);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  it('connections that PostgreSQL ends by force are replaced without a restart', async () => {
    const server = await start(['--database-url', cluster.url]);
    const load = loadOn(server);
    await load.until(() => load.report.acknowledged.length >= 12);
    const database = new Client({ connectionString: cluster.url });
    await database.connect();
    for (let round = 0; round < 5; round += 1) {
      const goal = load.report.acknowledged.length + 6;
      await database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'palimpsest'",
      );
      await load.until(() => load.report.acknowledged.length >= goal);
    }
    await database.end();
    const { acknowledged, faults } = await load.stop();
    expect(faults).toEqual([]);
    await expectAllStored(server, acknowledged);
    expect(await server.end('SIGTERM')).toBe(0);
  });
});
