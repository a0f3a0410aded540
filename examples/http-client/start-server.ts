import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PALIMPSEST = fileURLToPath(
  new URL('./dist/cli/main.js', import.meta.resolve('palimpsest/package.json')),
);

/** `palimpsest serve` on a free port, with a folder of its own for the data. */
export async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'palimpsest-example-'));
  const args = [PALIMPSEST, 'serve', '--port', '0', '--data-dir', dataDir, '--log-level', 'warn', '--json'];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const stop = async () => {
    server.kill('SIGTERM');
    await ended;
    await rm(dataDir, { recursive: true });
  };
  for await (const line of createInterface(server.stdout)) {
    return { url: (JSON.parse(line) as { url: string }).url, stop };
  }
  await stop();
  throw new Error('The server ended before it listened.');
}
