/**
 * Compiles src/ into dist/ and adds what the compiler does not copy.
 *
 * `--if-stale` (what `npm start` uses) does nothing when dist/ is newer than everything it is made from.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const OUTPUT = join(ROOT, 'dist');
const ENTRY_POINT = join(OUTPUT, 'cli', 'main.js');
const ASSET_SCRIPT = join(ROOT, 'scripts', 'build-assets.ts');
const SOURCES = ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

function newestChange(path: string): number {
  const entry = statSync(path);
  if (!entry.isDirectory()) return entry.mtimeMs;
  return Math.max(entry.mtimeMs, ...readdirSync(path).map((name) => newestChange(join(path, name))));
}

function isStale(): boolean {
  if (!existsSync(ENTRY_POINT)) return true;
  const builtAt = statSync(ENTRY_POINT).mtimeMs;
  return SOURCES.some((source) => newestChange(join(ROOT, source)) > builtAt);
}

function run(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function build(): void {
  // A file whose source is gone must not live on in the package.
  rmSync(OUTPUT, { recursive: true, force: true });
  run(process.execPath, [
    join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'),
    '-p',
    'tsconfig.build.json',
  ]);
  if (existsSync(ASSET_SCRIPT)) run(process.execPath, [ASSET_SCRIPT]);
  if (existsSync(ENTRY_POINT)) chmodSync(ENTRY_POINT, 0o755);
}

if (!process.argv.includes('--if-stale') || isStale()) build();
