/**
 * A PostgreSQL with pgvector to test against.
 *
 *   npm run postgres -- run -- <command>   starts one, runs the command with DATABASE_URL set, stops it
 *   npm run -s postgres -- start           starts one that stays (or finds it running), prints its URL
 *   npm run postgres -- stop               stops the one that `start` started
 *
 * Taken in this order: the server DATABASE_URL names; a throw-away cluster of an installation on this machine
 * that has pgvector; the same after installing what Debian offers. Exit code 3: no server can be had here.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { type Cluster, isRunning, startCluster, stopCluster } from './postgres/cluster.ts';
import { NoServer, obtainInstallation } from './postgres/debian.ts';
import type { Installation } from './postgres/installation.ts';

/** What `start` leaves for `stop`; one server per clone. */
const STARTED = join(import.meta.dirname, '..', 'node_modules', '.cache', 'palimpsest-postgres.json');
const NO_SERVER = 3;

async function startOne(): Promise<Cluster> {
  const begin = performance.now();
  const installation = obtainInstallation();
  const cluster = await startCluster(installation);
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.error(`Started ${describe(installation)} in ${seconds} s.`);
  return cluster;
}

function describe({ postgresVersion, pgvectorVersion, root }: Installation): string {
  const place = root === '/' ? '' : ' in a chroot';
  return `PostgreSQL ${postgresVersion} with pgvector ${pgvectorVersion}${place}`;
}

async function start(): Promise<void> {
  console.log(process.env.DATABASE_URL ?? runningServer()?.url ?? (await startAndRemember()).url);
}

async function startAndRemember(): Promise<Cluster> {
  const cluster = await startOne();
  mkdirSync(dirname(STARTED), { recursive: true });
  writeFileSync(STARTED, JSON.stringify(cluster));
  return cluster;
}

function rememberedServer(): Cluster | undefined {
  return existsSync(STARTED) ? (JSON.parse(readFileSync(STARTED, 'utf8')) as Cluster) : undefined;
}

function runningServer(): Cluster | undefined {
  const remembered = rememberedServer();
  return remembered && isRunning(remembered) ? remembered : undefined;
}

function stop(): void {
  const remembered = rememberedServer();
  if (remembered) stopCluster(remembered);
  rmSync(STARTED, { force: true });
}

async function runWithServer(command: string[]): Promise<number> {
  if (process.env.DATABASE_URL) return runCommand(command, process.env.DATABASE_URL);
  const interrupted = catchSignals();
  const cluster = await startOne();
  try {
    return interrupted() ?? (await runCommand(command, cluster.url));
  } finally {
    stopCluster(cluster);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** From here on a signal no longer ends this process, so that the server is always stopped. */
function catchSignals(): () => number | undefined {
  let exitCode: number | undefined;
  for (const signal of SIGNALS) process.on(signal, () => (exitCode = exitCodeOf(signal)));
  return () => exitCode;
}

function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** Signals go on to the command; whatever ends it, the caller comes back here to stop the server. */
function runCommand([program = '', ...args]: string[], databaseUrl: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: 'inherit',
      env: { ...process.env, DATABASE_URL: databaseUrl },
    });
    for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(signal ? exitCodeOf(signal) : (code ?? 1)));
  });
}

async function main([action, ...rest]: string[]): Promise<void> {
  if (action === 'start') return start();
  if (action === 'stop') return stop();
  const command = rest[0] === '--' ? rest.slice(1) : rest;
  if (action !== 'run' || command.length === 0)
    throw new Error('Usage: postgres start | stop | run -- <command>');
  process.exitCode = await runWithServer(command);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const noServer = error instanceof NoServer;
  const { message, cause } = error as Error;
  if (noServer)
    console.error(
      `Skipped PostgreSQL: none with pgvector ≥ 0.8 here, and ${message}. Set DATABASE_URL to use one.`,
    );
  else console.error([message, cause instanceof Error ? cause.message : ''].filter(Boolean).join('\n'));
  process.exitCode = noServer ? NO_SERVER : 1;
}
