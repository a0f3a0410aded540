import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { migrate, readMigrations } from '../migrate.ts';
import { PgliteDatabase } from './database.ts';
import { type Engine, startEngine } from './engine.ts';

/**
 * A template: the files of a new, migrated database as a tar archive. Making one takes seconds (initdb, then
 * the migrations); unpacking one takes a fraction of a second. The build makes one and ships it.
 */

/** Makes a template in memory. */
export async function makeTemplate(migrationsDirectory?: string): Promise<Uint8Array> {
  const engine = await startEngine({ kind: 'memory', contents: null });
  const database = new PgliteDatabase({
    start: async () => engine,
    isDurable: false,
    onClose: () => {},
    onBackgroundError: () => {},
  });
  try {
    await migrate(database, { directory: migrationsDirectory });
    await tidy(engine);
    const archive = await engine.pglite.dumpDataDir('none');
    return new Uint8Array(await archive.arrayBuffer());
  } finally {
    await database.close();
  }
}

/** File name of the template of the product's migrations: another one as soon as one of them changes. */
export async function templateName(): Promise<string> {
  const hash = createHash('sha256');
  for (const { checksum } of await readMigrations()) hash.update(checksum);
  return `pglite-data-${hash.digest('hex').slice(0, 12)}.tar.gz`;
}

/** Reads a template that was compressed with gzip. */
export async function readTemplate(file: string): Promise<Uint8Array> {
  return promisify(gunzip)(await readFile(file));
}

/**
 * Drops the databases that only serve to make further ones, which nobody does here (15 MB and some 600 files
 * less), and folds the log into the tables, so that the copy has nothing to recover.
 */
async function tidy({ pglite }: Engine): Promise<void> {
  await pglite.exec(
    "UPDATE pg_database SET datistemplate = false WHERE datname IN ('template0', 'template1')",
  );
  await pglite.exec('DROP DATABASE template0');
  await pglite.exec('DROP DATABASE template1');
  await pglite.exec('VACUUM (ANALYZE)');
  await pglite.exec('CHECKPOINT');
}
