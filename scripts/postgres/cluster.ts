/** A throw-away PostgreSQL cluster: made, started, stopped and removed with its data. */
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Installation, runTool } from './installation.ts';

export interface Cluster {
  readonly installation: Installation;
  /** Holds the data, the socket and the log; as this process sees it, not as a server in a chroot does. */
  readonly directory: string;
  readonly url: string;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: 100,
  // The data is thrown away at the end: nothing has to survive a power cut.
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
};

export async function startCluster(installation: Installation): Promise<Cluster> {
  const { root, account } = installation;
  const directory = mkdtempSync(join(root === '/' ? tmpdir() : join(root, 'tmp'), 'palimpsest-postgres-'));
  if (account) chownSync(directory, account.uid, account.gid);
  const port = await freePort();
  const cluster = { installation, directory, url: `postgres://postgres@127.0.0.1:${port}/postgres` };
  try {
    initialise(cluster);
    start(cluster, port);
  } catch (cause) {
    const log = readLog(cluster);
    rmSync(directory, { recursive: true, force: true });
    throw new Error(`PostgreSQL did not start. ${log}`, { cause });
  }
  return cluster;
}

/** `immediate` leaves a data directory that would need recovery, which nobody will open again. */
export function stopCluster(cluster: Cluster): void {
  if (isRunning(cluster)) {
    runTool(cluster.installation, 'pg_ctl', ['stop', '-D', dataOf(cluster), '-m', 'immediate', '-w', '-s']);
  }
  rmSync(cluster.directory, { recursive: true, force: true });
}

export function isRunning(cluster: Cluster): boolean {
  try {
    runTool(cluster.installation, 'pg_ctl', ['status', '-D', dataOf(cluster)]);
    return true;
  } catch {
    // Its exit code tells "not running" and "no such directory", which come to the same here.
    return false;
  }
}

function initialise(cluster: Cluster): void {
  runTool(cluster.installation, 'initdb', [
    `--pgdata=${dataOf(cluster)}`,
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    // macOS has no C.UTF-8.
    `--locale=${process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'}`,
    '--no-sync',
  ]);
}

function start(cluster: Cluster, port: number): void {
  const settings = { ...SETTINGS, port, unix_socket_directories: seenByServer(cluster) };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const log = join(seenByServer(cluster), 'server.log');
  runTool(cluster.installation, 'pg_ctl', [
    ...['start', '-D', dataOf(cluster), '-l', log, '-w', '-s'],
    ...['-o', options.join(' ')],
  ]);
}

function seenByServer({ directory, installation }: Cluster): string {
  return installation.root === '/' ? directory : directory.slice(installation.root.length);
}

function dataOf(cluster: Cluster): string {
  return join(seenByServer(cluster), 'data');
}

function readLog({ directory }: Cluster): string {
  try {
    return readFileSync(join(directory, 'server.log'), 'utf8').trim();
  } catch {
    // Without a log the cause alone has to explain it.
    return '';
  }
}

/** Another process could take the port before the server does; then the server says so and the run is repeated. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
