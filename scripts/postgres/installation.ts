/** A PostgreSQL server with pgvector that is on this machine, and how to run its programs. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const OLDEST_POSTGRES = 15;
const OLDEST_PGVECTOR = [0, 8] as const;

export interface Installation {
  readonly postgresVersion: string;
  readonly pgvectorVersion: string;
  /** What the server sees as `/`: another directory than ours when it lives in a chroot. */
  readonly root: string;
  /** The directory of initdb and pg_ctl, below `root`. */
  readonly bin: string;
  /** PostgreSQL refuses to run as root, so root runs it as this account. */
  readonly account: Account | undefined;
}

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export function runsAsRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The newest usable installation below `root`, or undefined. */
export function findInstallation(root = '/'): Installation | undefined {
  return binaryDirectories(root)
    .map((bin) => inspect(root, bin))
    .filter((installation) => installation !== undefined)
    .sort((a, b) => majorVersion(b.postgresVersion) - majorVersion(a.postgresVersion))[0];
}

/** Runs one of the installation's programs to its end; what it prints comes back as text. */
export function runTool(installation: Installation, tool: string, args: string[]): string {
  const { root, bin, account } = installation;
  const program = join(bin, tool);
  const [command, ...commandArgs] =
    root === '/' ? [program, ...args] : ['chroot', ...userOption(account), root, program, ...args];
  const { status, error, stdout, stderr } = spawnSync(command as string, commandArgs, {
    // The account may not be allowed to read the directory we were started in.
    cwd: '/',
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(root === '/' ? account : undefined),
  });
  if (error) throw error;
  if (status !== 0)
    throw new Error(`${tool} failed with exit code ${status}: ${stderr.trim() || stdout.trim()}`);
  return stdout;
}

function userOption(account: Account | undefined): string[] {
  return account ? [`--userspec=${account.uid}:${account.gid}`, `--groups=${account.gid}`] : [];
}

function binaryDirectories(root: string): string[] {
  const debian = '/usr/lib/postgresql';
  const packaged = existsSync(join(root, debian))
    ? readdirSync(join(root, debian)).map((version) => join(debian, version, 'bin'))
    : [];
  const onPath = root === '/' ? askPgConfig('pg_config', '--bindir') : undefined;
  return onPath ? [onPath, ...packaged] : packaged;
}

function inspect(root: string, bin: string): Installation | undefined {
  if (!existsSync(join(root, bin, 'initdb'))) return undefined;
  const account = runsAsRoot() ? accountNamed('postgres', root) : undefined;
  if (runsAsRoot() && !account) return undefined;

  const draft = { root, bin, account, postgresVersion: '', pgvectorVersion: '' };
  const postgresVersion = askVersion(draft);
  if (!postgresVersion || majorVersion(postgresVersion) < OLDEST_POSTGRES) return undefined;
  const pgvectorVersion = installedPgvector(join(root, shareDirectory(root, bin, postgresVersion)));
  if (!pgvectorVersion || isOlderThan(pgvectorVersion, OLDEST_PGVECTOR)) return undefined;
  return { ...draft, postgresVersion, pgvectorVersion };
}

function askVersion(installation: Installation): string | undefined {
  try {
    return /\d+(\.\d+)*/.exec(runTool(installation, 'postgres', ['--version']))?.[0];
  } catch {
    // Programs that don't run, of a broken or half-removed installation, are as good as none.
    return undefined;
  }
}

function shareDirectory(root: string, bin: string, postgresVersion: string): string {
  const told = root === '/' ? askPgConfig(join(bin, 'pg_config'), '--sharedir') : undefined;
  return told ?? `/usr/share/postgresql/${majorVersion(postgresVersion)}`;
}

function askPgConfig(pgConfig: string, option: string): string | undefined {
  const { status, stdout } = spawnSync(pgConfig, [option], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function installedPgvector(share: string): string | undefined {
  const control = join(share, 'extension', 'vector.control');
  if (!existsSync(control)) return undefined;
  return /default_version\s*=\s*'([^']+)'/.exec(readFileSync(control, 'utf8'))?.[1];
}

function accountNamed(name: string, root: string): Account | undefined {
  const accounts = readFileSync(join(root, 'etc', 'passwd'), 'utf8').split('\n');
  const [, , uid, gid] = accounts.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

function majorVersion(version: string): number {
  return Number(version.split('.')[0]);
}

function isOlderThan(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number);
  return ownMajor === major ? ownMinor < minor : ownMajor < major;
}
