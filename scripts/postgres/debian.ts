/**
 * Gets a PostgreSQL with pgvector onto a Debian machine that has none.
 *
 * Debian 13 has packages for it. Older releases don't package pgvector (or an old one), so there a minimal
 * Debian 13 is unpacked into the user's cache once (about half a minute, 700 MB) and its server runs in a chroot.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { findInstallation, type Installation, runsAsRoot } from './installation.ts';

const PACKAGE = 'postgresql-17-pgvector';
const PACKAGED_SINCE = { version: 13, codename: 'trixie' };

/** Why no server can be had on this machine; the message is for the user. */
export class NoServer extends Error {}

/** The newest usable server of this machine, or the one Debian offers it. */
export function obtainInstallation(): Installation {
  return findInstallation() ?? obtainOnDebian();
}

function obtainOnDebian(): Installation {
  const release = debianRelease();
  if (!release) throw new NoServer('this is no Debian, so it can not be set up automatically');
  if (!runsAsRoot()) throw new NoServer('setting it up automatically needs root');
  return release.version >= PACKAGED_SINCE.version ? installPackage() : useChroot(release.codename);
}

function debianRelease(): { version: number; codename: string } | undefined {
  if (!existsSync('/etc/os-release')) return undefined;
  const fields = new Map(
    readFileSync('/etc/os-release', 'utf8')
      .split('\n')
      .map((line) => line.split('=') as [string, string])
      .map(([key, value]) => [key, value?.replaceAll('"', '')]),
  );
  if (fields.get('ID') !== 'debian') return undefined;
  return { version: Number(fields.get('VERSION_ID')), codename: fields.get('VERSION_CODENAME') ?? '' };
}

function installPackage(): Installation {
  aptInstall(PACKAGE);
  const installation = findInstallation();
  if (!installation) throw new NoServer(`${PACKAGE} is installed, but its server was not found`);
  return installation;
}

function useChroot(hostCodename: string): Installation {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const root = join(cache, 'palimpsest', `debian-${PACKAGED_SINCE.codename}-${PACKAGE}`);
  const installation = usableChroot(root);
  if (installation) return installation;

  makeChroot(root, archiveMirror(hostCodename));
  const made = usableChroot(root);
  if (!made) throw new NoServer(`the chroot ${root} was made, but its server does not run`);
  return made;
}

function usableChroot(root: string): Installation | undefined {
  return existsSync(root) ? findInstallation(root) : undefined;
}

/**
 * Unpacks beside the final place and renames at the end, so that what has the final name is complete: a run
 * that was interrupted leaves only a `.partial-<pid>`, which the next run removes.
 */
function makeChroot(root: string, mirror: string): void {
  if (!existsSync('/usr/sbin/debootstrap')) aptInstall('debootstrap');
  const partial = `${root}.partial-${process.pid}`;
  removeAbandoned(root);
  mkdirSync(dirname(root), { recursive: true });
  const debootstrap = ['debootstrap', '--variant=minbase', `--include=${PACKAGE}`, PACKAGED_SINCE.codename];
  try {
    run(...inOwnMountNamespace([...debootstrap, partial, mirror]));
    // Another run may have been faster, and its server may be running already.
    if (usableChroot(root)) return;
    rmSync(root, { recursive: true, force: true });
    renameSync(partial, root);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** So that the /proc which debootstrap mounts is gone when it is, however it ends; not all containers allow it. */
function inOwnMountNamespace([command = '', ...args]: string[]): [command: string, args: string[]] {
  const allowed = spawnSync('unshare', ['--mount', 'true']).status === 0;
  return allowed ? ['unshare', ['--mount', command, ...args]] : [command, args];
}

function removeAbandoned(root: string): void {
  if (!existsSync(dirname(root))) return;
  for (const name of readdirSync(dirname(root))) {
    const maker = name.startsWith(`${basename(root)}.partial-`) ? Number(name.split('-').at(-1)) : undefined;
    if (maker && !isRunning(maker)) rmSync(join(dirname(root), name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

/** The archive this machine installs its own packages from, so that proxies and local mirrors are kept. */
function archiveMirror(codename: string): string {
  const mirror = aptSources().find(
    ({ suites, components }) => suites.includes(codename) && components.includes('main'),
  );
  if (!mirror) throw new NoServer(`no apt source for ${codename} main was found in /etc/apt`);
  return mirror.uri;
}

interface AptSource {
  uri: string;
  suites: string[];
  components: string[];
}

function aptSources(): AptSource[] {
  const folder = '/etc/apt/sources.list.d';
  const files = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  return ['/etc/apt/sources.list', ...files]
    .filter((file) => existsSync(file))
    .flatMap((file) => parseAptSources(file, readFileSync(file, 'utf8')));
}

function parseAptSources(file: string, text: string): AptSource[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  return file.endsWith('.sources') ? parseStanzas(lines.join('\n')) : parseOneLineSources(lines);
}

/** `deb [options] uri suite component …` */
export function parseOneLineSources(lines: string[]): AptSource[] {
  return lines
    .map((line) =>
      line
        .replace(/\[[^\]]*\]/, '')
        .trim()
        .split(/\s+/),
    )
    .filter(([type, uri, suite]) => type === 'deb' && uri && suite)
    .map(([, uri = '', suite = '', ...components]) => ({ uri, suites: [suite], components }));
}

/** The deb822 form: stanzas of `Key: value …`, parted by empty lines, continued by lines that start with a blank. */
export function parseStanzas(text: string): AptSource[] {
  return text
    .split(/\n\s*\n/)
    .map((stanza) => stanza.replace(/\n[ \t]+/g, ' '))
    .map(
      (stanza) => (key: string) =>
        new RegExp(`^${key}:(.*)$`, 'im').exec(stanza)?.[1]?.trim().split(/\s+/) ?? [],
    )
    .filter((field) => field('Types').includes('deb') && field('Enabled')[0] !== 'no')
    .flatMap((field) =>
      field('URIs').map((uri) => ({ uri, suites: field('Suites'), components: field('Components') })),
    );
}

export function aptInstall(name: string): void {
  const install = ['install', '--yes', '--no-install-recommends', name];
  run('apt-get', ['update']);
  run('apt-get', install, { DEBIAN_FRONTEND: 'noninteractive' });
}

/** What the programs print is shown only when they fail: it is long and of no use otherwise. */
function run(command: string, args: string[], environment: Record<string, string> = {}): void {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error) throw new NoServer(`${command} could not be run: ${error.message}`);
  if (status !== 0) {
    const lastLines = `${stdout}\n${stderr}`.trim().split('\n').slice(-5).join(' | ');
    throw new NoServer(`${command} ${args[0]} failed with exit code ${status}: ${lastLines}`);
  }
}
