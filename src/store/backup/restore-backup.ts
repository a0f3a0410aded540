import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { unpackTar } from 'modern-tar/fs';
import { hasCode, PalimpsestError, reasonOf } from '../../core/errors.ts';
import { lockDataDirectory, removeLock } from '../data-directory-lock.ts';
import { onDisk } from '../disk-errors.ts';
import { readMigrations } from '../migrate.ts';
import {
  inTheMaking,
  isUnused,
  makeDataDirectory,
  putInPlace,
  removeInTheMaking,
} from '../pglite/data-directory.ts';
import { PgliteDatabase } from '../pglite/database.ts';
import { startEngine } from '../pglite/engine.ts';
import { type BackupManifest, damagedBackup } from './backup-manifest.ts';
import { inspectBackup, type OnBackupProgress, openArchive } from './inspect-backup.ts';
import { countRows, FILES_IN_ARCHIVE } from './take-backup.ts';

export interface RestoreOptions {
  readonly file: string;
  /** Data directory to make. It may be there, empty. */
  readonly root: string;
  /** Told of the two times the backup is read: `check`, then `unpack`. */
  readonly onProgress?:
    | ((step: 'check' | 'unpack', progress: Parameters<OnBackupProgress>[0]) => void)
    | undefined;
  /** Gives the restoring up: it rejects with the signal's reason, and leaves the folder as it was. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes a data directory from a backup. The backup is read and compared with its manifest before anything is written;
 * then the database is unpacked beside its place, started, and its rows and contents are compared. Only then is it put
 * in place. What fails leaves the folder as it was.
 *
 * @throws PalimpsestError `conflict` for a folder that holds anything, `invalid_input` for a damaged backup,
 * `store_newer` for one of a later version, `store_locked` while another process restores into the folder
 */
export async function restoreBackup(options: RestoreOptions): Promise<BackupManifest> {
  const { file, signal, onProgress = () => {} } = options;
  const root = resolve(options.root);
  refuseUsed(root);
  const manifest = await inspectBackup(file, (progress) => onProgress('check', progress), signal);
  await refuseNewer(manifest);
  const restore = async () => {
    const unpacked = inTheMaking(root);
    await unpack(options, unpacked);
    const files = join(unpacked, FILES_IN_ARCHIVE);
    for (const folder of manifest.folders) mkdirSync(join(files, folder), { recursive: true, mode: 0o700 });
    signal?.throwIfAborted();
    await checkDatabase(files, manifest);
    signal?.throwIfAborted();
    await putInPlace(root, files);
    return manifest;
  };
  return onDisk(root, () => withNewDirectory(root, restore));
}

/** Does the work under the lock of a directory, which is as it was before if the work fails. */
async function withNewDirectory<T>(root: string, work: () => Promise<T>): Promise<T> {
  const isNew = !existsSync(root);
  makeDataDirectory(root);
  const lock = await lockDataDirectory(root).catch((error: unknown) => {
    if (isNew) removeIfEmpty(root);
    throw error;
  });
  let isDone = false;
  try {
    // Looked at again: another process may have come before the lock.
    refuseUsed(root);
    removeInTheMaking(root);
    const result = await work();
    isDone = true;
    return result;
  } finally {
    removeInTheMaking(root);
    // While it is held: whoever waits for it finds a file that is gone, and takes a new one.
    if (!isDone) removeLock(root);
    lock.release();
    if (!isDone && isNew) removeIfEmpty(root);
  }
}

/** Another process may have come to use it meanwhile. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error;
  }
}

function refuseUsed(root: string): void {
  if (isUnused(root)) return;
  throw new PalimpsestError(
    'conflict',
    `${root} is not empty, and a backup is restored into an empty folder only.`,
    {
      details: [{ path: root, hint: 'Name a folder that does not exist, or move away what is in this one.' }],
    },
  );
}

async function refuseNewer({ schemaVersion, productVersion }: BackupManifest): Promise<void> {
  const known = (await readMigrations()).length;
  if (schemaVersion <= known) return;
  throw new PalimpsestError(
    'store_newer',
    `The backup has schema version ${schemaVersion}; this program knows versions up to ${known}.`,
    { details: [{ hint: `Restore it with Palimpsest ${productVersion} or later.` }] },
  );
}

async function unpack({ file, onProgress, signal }: RestoreOptions, target: string): Promise<void> {
  try {
    mkdirSync(target, { mode: 0o700 });
    await pipeline(
      await openArchive(file, (progress) => onProgress?.('unpack', progress)),
      unpackTar(target, { strict: true, fmode: 0o600, dmode: 0o700 }),
      { signal },
    );
  } catch (cause) {
    signal?.throwIfAborted();
    // The backup itself has been read to its end before.
    throw new PalimpsestError('store_unavailable', `The backup could not be unpacked: ${reasonOf(cause)}.`, {
      details: [{ path: target, hint: 'Look at the disk: its space and the rights of the folder.' }],
      cause,
    });
  }
}

/** Whether the database starts, has the rows it had, and every content is the one that was hashed. */
async function checkDatabase(files: string, manifest: BackupManifest): Promise<void> {
  const database = new PgliteDatabase({
    start: () => startEngine({ kind: 'directory', directory: files, flushes: true }),
    isDurable: true,
    onClose: () => {},
    onBackgroundError: () => {},
  });
  try {
    const { rows, changed } = await database
      .transaction(async (tx) => {
        const [found] = await tx.query<{ changed: number }>({ text: CHANGED_CONTENTS, values: [] });
        return { rows: await countRows(tx), changed: found?.changed };
      })
      .catch((cause: unknown) => {
        throw damagedBackup(
          `its database does not work (made by Palimpsest ${manifest.productVersion} with PostgreSQL ${manifest.postgresVersion}): ${reasonOf(cause)}`,
          cause,
        );
      });
    if (changed !== 0) throw damagedBackup(`${changed} entries have another content than their hash says`);
    for (const [table, count] of Object.entries(manifest.rows)) {
      if (rows[table] !== count)
        throw damagedBackup(`the table ${table} has ${rows[table]} rows in place of ${count}`);
    }
  } finally {
    await database.close();
  }
}

const CHANGED_CONTENTS = `SELECT count(*)::integer AS changed FROM app.memories
  WHERE content_hash <> encode(sha256(convert_to(content, 'UTF8')), 'hex')`;
