import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { hasCode, PalimpsestError, reasonOf } from '../../core/errors.ts';
import { LOCK_FILES } from '../data-directory-lock.ts';
import { readTar } from './tar.ts';

/**
 * What is in a data directory:
 *
 *     palimpsest.lock, palimpsest.holder.json   who uses it (data-directory-lock.ts)
 *     postgres/                                 the database's files
 *     postgres.new/                             the same while they are being made
 *     postgres.copy-…/                          the same as they were at the moment of a backup
 *
 * A database is unpacked beside its place, flushed, and renamed into it. So `postgres/` is always whole and
 * never removed by us, and what a crash in the middle left behind is never taken for a database.
 */

const FILES = 'postgres';
const FILES_IN_THE_MAKING = 'postgres.new';
/** Every Postgres data directory has it. */
const VERSION_FILE = 'PG_VERSION';

/** Files flushed at a time: 16 took 230 ms for 1,000 files, 4 took 520, 64 no less than 16. */
const PARALLEL_FLUSHES = 16;

/** Folder of the database's files; undefined where there are none. */
export function databaseFiles(root: string): string | undefined {
  return hasDatabaseFiles(root) ? join(root, FILES) : undefined;
}

/** Whether nothing is in the way of a new database: a folder that isn't there, or holds what a broken attempt left. */
export function isUnused(root: string): boolean {
  const harmless = new Set<string>([FILES_IN_THE_MAKING, ...LOCK_FILES]);
  return !existsSync(root) || readdirSync(root).every((name) => harmless.has(name));
}

/** Folder in which a database is made before it is put in place. */
export function inTheMaking(root: string): string {
  return join(root, FILES_IN_THE_MAKING);
}

export function removeInTheMaking(root: string): void {
  rmSync(inTheMaking(root), { recursive: true, force: true });
}

/** Makes a finished folder the database of the directory, lasting over a power cut. The caller holds the lock. */
export async function putInPlace(root: string, finished: string): Promise<void> {
  const entries = readdirSync(finished, { recursive: true, withFileTypes: true });
  const place = (entry: (typeof entries)[number]) => join(entry.parentPath, entry.name);
  const [folders, files] = [true, false].map((isFolder) =>
    entries.filter((entry) => entry.isDirectory() === isFolder).map(place),
  ) as [string[], string[]];
  await flushAll({ files, folders: [finished, ...folders] });
  renameSync(finished, join(root, FILES));
  await flushFolder(root);
}

/** Makes the directory itself, readable by its user alone, if it isn't there. */
export function makeDataDirectory(root: string): void {
  try {
    makeFolders(resolve(root));
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new PalimpsestError('invalid_config', `The data directory ${root} can't be made: ${reason}.`, {
      details: [{ path: root, hint: 'Name a directory this user may create and write to.' }],
      cause,
    });
  }
}

/** Node's own way to make folders above another tries for ever where one can't be made below one that is there. */
function makeFolders(path: string): void {
  if (!existsSync(dirname(path))) makeFolders(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST') || !isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Whether a data directory holds a database. */
export function hasDatabaseFiles(root: string): boolean {
  return existsSync(join(root, FILES, VERSION_FILE));
}

/**
 * Path of the database's files, made from a template where there are none yet. The caller holds the lock.
 *
 * @param flushes whether what is made must survive a power cut
 */
export async function provideDatabaseFiles(
  root: string,
  template: () => Promise<Uint8Array>,
  flushes: boolean,
): Promise<string> {
  const found = databaseFiles(root);
  if (found !== undefined) return found;
  const files = join(root, FILES);
  refuseForeignFiles(files);
  removeInTheMaking(root);
  try {
    const unpacked = unpack(await template(), inTheMaking(root));
    if (flushes) await flushAll(unpacked);
    renameSync(inTheMaking(root), files);
  } catch (error) {
    // A disk that is full is not kept full by what can't be used.
    removeInTheMaking(root);
    throw error;
  }
  if (flushes) await flushFolder(root);
  return files;
}

/** An empty folder may be a mount point that was prepared for us. */
function refuseForeignFiles(files: string): void {
  if (!existsSync(files) || readdirSync(files).length === 0) return;
  throw new PalimpsestError('invalid_config', `${files} holds files, but no database.`, {
    details: [
      {
        path: files,
        hint: 'Move them away, or restore the whole folder from a backup. Nothing was changed.',
      },
    ],
  });
}

interface Unpacked {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

function unpack(archive: Uint8Array, target: string): Unpacked {
  const files: string[] = [];
  const folders = new Set<string>();
  const makeFolder = (path: string) => {
    if (!folders.has(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
    folders.add(path);
  };
  makeFolder(target);
  for (const { path, content } of readTar(archive)) {
    const place = join(target, path);
    makeFolder(content === null ? place : dirname(place));
    if (content === null) continue;
    writeFileSync(place, content, { mode: 0o600 });
    files.push(place);
  }
  return { files, folders: [...folders] };
}

async function flushAll({ files, folders }: Unpacked): Promise<void> {
  const queue = [...files];
  const worker = async () => {
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) await flushFile(path);
  };
  await Promise.all(Array.from({ length: PARALLEL_FLUSHES }, worker));
  for (const folder of folders) await flushFolder(folder);
}

function flushFile(path: string): Promise<void> {
  return flush(path, 'r+');
}

/** So that its entries last. Windows keeps folders consistent by itself and refuses to flush one. */
export async function flushFolder(path: string): Promise<void> {
  if (process.platform !== 'win32') await flush(path, 'r');
}

async function flush(path: string, mode: 'r' | 'r+'): Promise<void> {
  const handle = await open(path, mode);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
