import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PalimpsestError } from '../core/errors.ts';
import { copyDatabase, type DatabaseCopy, removeLeftCopies } from './backup/take-backup.ts';
import { type DataDirectoryLock, type HolderTokens, lockDataDirectory } from './data-directory-lock.ts';
import { onDisk } from './disk-errors.ts';
import { migrate } from './migrate.ts';
import { databaseFiles, makeDataDirectory, provideDatabaseFiles } from './pglite/data-directory.ts';
import { PgliteDatabase } from './pglite/database.ts';
import { startEngine } from './pglite/engine.ts';
import { makeTemplate, readTemplate, templateName } from './pglite/template.ts';
import type { SqlDatabase } from './sql-database.ts';

export interface PgliteOptions {
  /** Folder the data is kept in; made if missing. Default: none, the data is in memory and gone with the process. */
  readonly dataDir?: string | undefined;
  /**
   * Whether a commit waits until it is on the disk, so that it survives a power cut; a killed process loses
   * nothing either way. Costs about 1 ms a write on a solid-state disk. Default true.
   */
  readonly flushesToDisk?: boolean | undefined;
  /** Whether missing migrations are applied. Default true. */
  readonly migrates?: boolean | undefined;
  /** Folder of migrations. Default: those of this version of the product. */
  readonly migrationsDirectory?: string | undefined;
  /**
   * Archive made by `makeTemplate` and gzip, to start a new database from; `null` for none. Default: the one
   * the build made from these very migrations, if it is there and `migrationsDirectory` is not given.
   */
  readonly template?: string | null | undefined;
  /** Told of failures that no caller waits for: those of the upkeep of tables. It is tried again later. */
  readonly onBackgroundError?: ((error: unknown) => void) | undefined;
}

/** A database inside this process. */
export interface EmbeddedDatabase extends SqlDatabase {
  /** Lets a process that finds the data directory taken know where the data is served; `null`: no longer. */
  setUrl(url: string | null, tokens?: HolderTokens): void;
  /**
   * Copies the database as it is now, beside its files. The caller removes the copy.
   *
   * @throws PalimpsestError `invalid_config` for a database in memory
   */
  copy(productVersion: string): Promise<DatabaseCopy>;
}

/** Where the build puts the template, seen from the built file and from the source. */
const TEMPLATE_FOLDERS = ['.', '../../dist/store'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/**
 * Opens a Postgres inside this process, migrated (unless told otherwise) and ready. One process at a time may use a data directory.
 *
 * @throws PalimpsestError `store_locked` when another process uses the directory, `store_newer` when its data
 * is of a later version of the product, `store_unavailable` when the database does not start.
 */
export async function openPglite(options: PgliteOptions = {}): Promise<EmbeddedDatabase> {
  const { dataDir } = options;
  return dataDir === undefined ? openInMemory(options) : openInDirectory(resolve(dataDir), options);
}

async function openInMemory(options: PgliteOptions): Promise<EmbeddedDatabase> {
  const template = await templateFile(options);
  const contents = template === null ? null : await readTemplate(template);
  const database = new PgliteDatabase({
    start: () => startEngine({ kind: 'memory', contents }),
    isDurable: false,
    onClose: () => {},
    onBackgroundError: options.onBackgroundError ?? (() => {}),
  });
  return migrated(database, options, {
    setUrl: () => {},
    copy: () => Promise.reject(nothingToCopy()),
  });
}

function nothingToCopy(): PalimpsestError {
  return new PalimpsestError('invalid_config', 'A store in memory has no files to back up.', {
    details: [{ hint: 'Export its entries (palimpsest export), or keep it in a data directory.' }],
  });
}

function openInDirectory(root: string, options: PgliteOptions): Promise<EmbeddedDatabase> {
  return onDisk(root, async () => {
    makeDataDirectory(root);
    const lock = await lockDataDirectory(root);
    try {
      return await openLocked(lock, options);
    } catch (error) {
      lock.release();
      throw error;
    }
  });
}

async function openLocked(lock: DataDirectoryLock, options: PgliteOptions): Promise<EmbeddedDatabase> {
  const flushes = options.flushesToDisk ?? true;
  const files = await provideDatabaseFiles(lock.directory, () => template(options), flushes);
  await removeLeftCopies(lock.directory);
  const database = databaseOn(files, lock, options);
  return migrated(database, options, {
    setUrl: (url, tokens) => lock.setUrl(url, tokens),
    copy: (productVersion) => copyDatabase({ database, files, root: lock.directory, productVersion }),
  });
}

function databaseOn(files: string, lock: DataDirectoryLock, options: PgliteOptions): PgliteDatabase {
  const flushes = options.flushesToDisk ?? true;
  return new PgliteDatabase({
    start: () => startEngine({ kind: 'directory', directory: files, flushes }),
    isDurable: true,
    onClose: () => lock.release(),
    onBackgroundError: options.onBackgroundError ?? (() => {}),
  });
}

/**
 * Copies the database of a data directory that nobody uses. It is not migrated: a backup is what one takes before.
 *
 * @throws PalimpsestError `store_locked` when a process uses the directory, `invalid_config` where there is no database
 */
export async function copyDirectory(
  dataDir: string,
  productVersion: string,
): Promise<{ readonly copy: DatabaseCopy; close(): Promise<void> }> {
  const root = resolve(dataDir);
  const files = databaseFiles(root);
  if (files === undefined) {
    throw new PalimpsestError('invalid_config', `There is no store in ${root}.`, {
      details: [{ path: 'dataDir', got: root, hint: 'Name the data directory of the store (--data-dir).' }],
    });
  }
  return onDisk(root, async () => {
    const lock = await lockDataDirectory(root);
    const database = databaseOn(files, lock, {});
    try {
      await removeLeftCopies(root);
      const copy = await copyDatabase({ database, files, root, productVersion });
      return { copy, close: () => database.close() };
    } catch (error) {
      await database.close();
      throw error;
    }
  });
}

async function migrated(
  database: PgliteDatabase,
  options: PgliteOptions,
  parts: Pick<EmbeddedDatabase, 'setUrl' | 'copy'>,
): Promise<EmbeddedDatabase> {
  try {
    if (options.migrates !== false) await migrate(database, { directory: options.migrationsDirectory });
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    backend: database.backend,
    transaction: (work, transactionOptions) => database.transaction(work, transactionOptions),
    connections: () => database.connections(),
    close: () => database.close(),
    ...parts,
  };
}

async function template(options: PgliteOptions): Promise<Uint8Array> {
  const file = await templateFile(options);
  return file === null ? makeTemplate(options.migrationsDirectory) : readTemplate(file);
}

async function templateFile({ template, migrationsDirectory }: PgliteOptions): Promise<string | null> {
  if (template !== undefined) return template;
  if (migrationsDirectory !== undefined) return null;
  const name = await templateName();
  return TEMPLATE_FOLDERS.map((folder) => join(folder, name)).find((file) => existsSync(file)) ?? null;
}
