import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataDirectoryHolder } from '../../src/store/data-directory-lock.ts';
import { openPglite } from '../../src/store/pglite.ts';

/** Stores as they are after a first use: empty, migrated, and held by nobody. */
export interface ExistingStores {
  /** For whatever else a suite keeps in files. */
  readonly folder: string;
  /** A store that nobody else has, and its data directory. */
  next(): string;
  dispose(): void;
}

/** Makes one store and copies it, which takes a tenth of the time. */
export async function existingStores(): Promise<ExistingStores> {
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-stores-'));
  const template = join(folder, 'template');
  await (await openPglite({ dataDir: template })).close();
  let copies = 0;
  return {
    folder,
    next() {
      copies += 1;
      const dataDir = join(folder, `data-${copies}`);
      cpSync(template, dataDir, { recursive: true });
      return dataDir;
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Who holds a data directory and where it is served; undefined while nobody has it. */
export function holderOf(dataDir: string): DataDirectoryHolder | undefined {
  const file = join(dataDir, 'palimpsest.holder.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
