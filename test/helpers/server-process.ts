import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

/** A real `palimpsest serve` in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  post(path: string, body: unknown): Promise<Response>;
  get(path: string): Promise<Response>;
  /** How many requests it has logged. */
  requests(): number;
  /** Ends it and waits until it has ended; gives the exit code, null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts a server on a free port and waits until it says where it listens. */
export async function startServer(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--json', '--port', '0', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const url = await announcedUrl(child);
  return {
    url,
    pid: child.pid ?? 0,
    post: (path, body) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    get: (path) => fetch(`${url}${path}`),
    requests: () => log.match(/"path":"/g)?.length ?? 0,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Rejects with what the process said when it ends instead of listening. */
function announcedUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    child.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      if (output.includes('\n')) resolve((JSON.parse(output) as { url: string }).url);
    });
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}: ${errors}`)));
  });
}
