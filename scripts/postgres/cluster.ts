/** A throw-away PostgreSQL cluster: made, started, killed, stopped and removed with its data. */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Installation, runTool } from './installation.ts';

export interface Cluster {
  readonly installation: Installation;
  /** Holds the data, the socket and the log; as this process sees it, not as a server in a chroot does. */
  readonly directory: string;
  readonly url: string;
  readonly settings: ClusterSettings;
}

/** Parameters of the server, as `postgresql.conf` names them. */
export type ClusterSettings = Readonly<Record<string, string | number>>;

const SETTINGS: ClusterSettings = {
  listen_addresses: '127.0.0.1',
  max_connections: 100,
  // The data is thrown away at the end: nothing has to survive a power cut.
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
};

export async function startCluster(
  installation: Installation,
  settings: ClusterSettings = {},
): Promise<Cluster> {
  const { root, account } = installation;
  const directory = mkdtempSync(join(root === '/' ? tmpdir() : join(root, 'tmp'), 'palimpsest-postgres-'));
  if (account) chownSync(directory, account.uid, account.gid);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const cluster = { installation, directory, url, settings: { ...SETTINGS, ...settings, port } };
  try {
    initialise(cluster);
    start(cluster);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  return cluster;
}

/** Ends all its processes with SIGKILL, as a machine short of memory does. Its data stays. */
export async function killCluster(cluster: Cluster): Promise<void> {
  const pidFile = join(cluster.directory, 'data', 'postmaster.pid');
  const postmaster = Number(readFileSync(pidFile, 'utf8').split('\n', 1)[0]);
  const family = runningProcesses().filter(({ pid, parent }) => pid === postmaster || parent === postmaster);
  // The postmaster first, so that it starts no children in place of the killed ones.
  for (const { pid } of family.toSorted((a, b) =>
    a.pid === postmaster ? -1 : b.pid === postmaster ? 1 : 0,
  )) {
    killIfThere(pid);
  }
  const pids = new Set(family.map(({ pid }) => pid));
  while (runningProcesses().some(({ pid }) => pids.has(pid))) await sleep(10);
  // A killed process that nobody waits for keeps its pid, which the next start would take for a running server.
  rmSync(pidFile);
  rmSync(join(cluster.directory, `.s.PGSQL.${cluster.settings.port}.lock`), { force: true });
}

/** Starts a killed cluster again, on the same port. It recovers what was committed. */
export function restartCluster(cluster: Cluster): void {
  start(cluster);
}

/** Without those that have ended and are not yet waited for. */
function runningProcesses(): { readonly pid: number; readonly parent: number }[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state = '']) => !state.startsWith('Z'))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // A child ends by itself as soon as its postmaster is gone.
  }
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

function start(cluster: Cluster): void {
  const settings = { ...cluster.settings, unix_socket_directories: seenByServer(cluster) };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  const log = join(seenByServer(cluster), 'server.log');
  try {
    runTool(cluster.installation, 'pg_ctl', [
      ...['start', '-D', dataOf(cluster), '-l', log, '-w', '-s'],
      ...['-o', options.join(' ')],
    ]);
  } catch (cause) {
    throw new Error(`PostgreSQL did not start. ${readLog(cluster)}`, { cause });
  }
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
