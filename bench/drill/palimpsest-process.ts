import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';

/** The command line in processes of its own, to be killed at any moment. */

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
/** Enough to say why a process ended. */
const KEPT_ERRORS = 2_000;

export interface Running {
  readonly child: ChildProcess;
  /** Exit code; null after a kill. */
  readonly ended: Promise<number | null>;
  /** The end of what it said on stderr. */
  errors(): string;
}

/** Starts a command. */
export function start(args: readonly string[]): Running {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors = `${errors}${chunk}`.slice(-KEPT_ERRORS);
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { child, ended, errors: () => errors };
}

/** Runs a command to its end and gives what it wrote. */
export async function runCommand(args: readonly string[]): Promise<string> {
  const { child, ended, errors } = start(args);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  if (child.stdout !== null) await finished(child.stdout);
  const code = await ended;
  if (code !== 0) throw new Error(`palimpsest ${args[0]} ended with ${code}: ${errors()}`);
  return output;
}

export interface Server extends Running {
  readonly url: string;
}

/** Starts a server and waits until it says where it listens. */
export async function startServer(args: readonly string[]): Promise<Server> {
  const running = start(['serve', '--json', '--port', '0', '--log-level', 'error', ...args]);
  const { child, ended, errors } = running;
  if (child.stdout === null) throw new Error('The server has no stdout.');
  const lines = createInterface({ input: child.stdout });
  const announced = once(lines, 'line').then(([line]) => (JSON.parse(line as string) as { url: string }).url);
  const tooSoon = ended.then((code) => {
    throw new Error(`palimpsest serve ended with ${code}: ${errors()}`);
  });
  // Once it has announced itself its end is no failure.
  tooSoon.catch(() => undefined);
  return { ...running, url: await Promise.race([announced, tooSoon]) };
}

export async function kill({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}
