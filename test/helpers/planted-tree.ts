import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const PROJECT = join(import.meta.dirname, '..', '..');

/** A throw-away directory with the given files, the project's packages, and copies of some of its files. */
export function plantTree(files: Record<string, string>, copies: string[] = []) {
  const root = mkdtempSync(join(tmpdir(), 'palimpsest-planted-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${content}\n`);
  }
  for (const path of copies) cpSync(join(PROJECT, path), join(root, path), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(root, 'node_modules'));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}
