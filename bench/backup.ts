import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMemoryService } from '../src/app.ts';
import { createBackup } from '../src/app-backup.ts';
import type { MemoryDraft } from '../src/core/types.ts';
import { LOCAL_OPERATOR } from '../src/service/local-operator.ts';
import { databaseFiles } from '../src/store/pglite/data-directory.ts';
import { readCorpus } from './corpus.ts';
import { round, writeResult } from './measure.ts';
import { pgliteStore } from './stores.ts';

/** What a backup of an embedded store packs, and how large it is: of a new store, and of one with a corpus in it. */
async function backupOf(drafts: readonly MemoryDraft[]) {
  const { location, dispose } = await pgliteStore();
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-bench-backup-'));
  try {
    if (!('dataDir' in location)) throw new Error('A backup is of a store in a folder.');
    const { service, close } = await openMemoryService({ location, embedding: {} });
    for await (const _ of service.importEntries({ access: LOCAL_OPERATOR }, drafts));
    await close();
    const { size, postgresVersion, schemaVersion, rows } = await createBackup(
      { store: location, logLevel: 'silent', warnings: [] },
      join(folder, 'a.backup'),
      () => {},
      new AbortController().signal,
    );
    return {
      ...filesIn(databaseFiles(location.dataDir) ?? ''),
      backupBytes: size,
      postgresVersion,
      schemaVersion,
      rows: Object.fromEntries(Object.entries(rows).filter(([, count]) => count > 0)),
    };
  } finally {
    rmSync(folder, { recursive: true });
    await dispose();
  }
}

function filesIn(folder: string): { readonly files: number; readonly megabytes: number } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  return { files: files.length, megabytes: megabytes(bytes.reduce((sum, size) => sum + size, 0)) };
}

function megabytes(bytes: number): number {
  return round(bytes / 1e6, 1);
}

export async function run(): Promise<void> {
  const { name, drafts } = readCorpus('locomo');
  writeResult('backup', {
    backend: 'pglite',
    newStore: await backupOf([]),
    filledStore: { corpus: name, ...(await backupOf(drafts)) },
  });
}
