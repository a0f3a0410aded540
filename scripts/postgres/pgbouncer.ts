/** A PgBouncer in transaction mode in front of a PostgreSQL, for tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { aptInstall } from './debian.ts';
import { runsAsRoot } from './installation.ts';

const PROGRAM = '/usr/sbin/pgbouncer';
/** PgBouncer refuses to run as root; Debian's package makes this user. */
const UNPRIVILEGED_USER = 'postgres';
const START_TIMEOUT_MS = 10_000;

export interface PgBouncer {
  /** The same database through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Why there is no PgBouncer here; undefined when there is one, or when it has been installed. */
export function obtainPgBouncer(): string | undefined {
  if (existsSync(PROGRAM)) return undefined;
  if (!existsSync('/etc/debian_version')) return 'PgBouncer is not installed, and this is no Debian';
  if (!runsAsRoot()) return 'PgBouncer is not installed, and installing it needs root';
  aptInstall('pgbouncer');
  return existsSync(PROGRAM) ? undefined : `the package pgbouncer brought no ${PROGRAM}`;
}

/** Starts one on a free port of the loopback, with `poolSize` connections to the server. */
export async function startPgBouncer(databaseUrl: string, poolSize: number): Promise<PgBouncer> {
  const target = new URL(databaseUrl);
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-pgbouncer-'));
  // The unprivileged user has to read what root wrote.
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'users.txt'), `"${target.username}" ""\n`);
  writeFileSync(join(folder, 'pgbouncer.ini'), configuration(target, port, poolSize, folder));
  const child = spawn(
    PROGRAM,
    [...(runsAsRoot() ? ['-u', UNPRIVILEGED_USER] : []), join(folder, 'pgbouncer.ini')],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const url = new URL(databaseUrl);
  url.port = String(port);
  const stop = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitUntilReady(url.href, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: url.href, stop };
}

function configuration(target: URL, port: number, poolSize: number, folder: string): string {
  return `[databases]
* = host=${target.hostname} port=${target.port}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
`;
}

async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`PgBouncer does not answer: ${said}`, { cause: error });
      }
      await sleep(50);
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  // SIGTERM ends it at once; SIGINT would wait for clients.
  child.kill('SIGTERM');
  await ended;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
