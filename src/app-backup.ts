import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { z } from 'zod';
import type { Config } from './config/config.ts';
import { packageVersion } from './config/package-version.ts';
import { errorOf } from './contract/error-of.ts';
import { PalimpsestError, reasonOf } from './core/errors.ts';
import { createLogger } from './http/logger.ts';
import { COPY_PATH } from './http/operator-routes.ts';
import type { BackupManifest } from './store/backup/backup-manifest.ts';
import { finishBackupFile, refuseUnwritable } from './store/backup/finish-backup-file.ts';
import { counting, inspectBackup, type OnBackupProgress } from './store/backup/inspect-backup.ts';
import { restoreBackup as restoreInto } from './store/backup/restore-backup.ts';
import { type DatabaseCopy, isCopyName, packCopy, removeCopy } from './store/backup/take-backup.ts';
import { readHolder } from './store/data-directory-lock.ts';
import { backedUpElsewhere, type StoreLocation } from './store/open-store.ts';
import { copyDirectory } from './store/pglite.ts';

/**
 * Backups of embedded stores, for the command line. Apart from app.ts: nothing of the service is needed, and a store is
 * neither migrated nor otherwise changed by being copied.
 */

export type BackupStep = 'copy' | 'check' | 'unpack';
export type OnBackupStep = (step: BackupStep, progress: Parameters<OnBackupProgress>[0]) => void;

/** A backup that was read to its end and found whole. */
export interface CheckedBackup extends Omit<BackupManifest, 'files' | 'folders'> {
  readonly file: string;
  /** Bytes of the file. */
  readonly size: number;
}

/** What a backup needs to know of the configuration. */
export type BackupConfig = Pick<Config, 'store' | 'logLevel' | 'warnings'>;

/**
 * Writes a backup of an embedded store to a new file, which only this user may read, and reads it again. Where a server
 * holds the store, that server makes the copy and goes on serving.
 *
 * @throws PalimpsestError `conflict` for a file that exists, `invalid_input` for a folder that can't be written to,
 * `invalid_config` for a store on PostgreSQL, `shutting_down` once the signal is aborted, which leaves nothing behind
 */
export async function createBackup(
  { store, logLevel, warnings }: BackupConfig,
  file: string,
  onStep: OnBackupStep,
  signal: AbortSignal,
): Promise<CheckedBackup> {
  const logger = createLogger(logLevel);
  for (const warning of warnings) logger.warn(warning);
  await refuseUnwritable(file);
  const partial = `${file}.partial-${process.pid}`;
  let manifest: BackupManifest;
  try {
    const { copy, close } = await reachStore(store);
    try {
      const { stream, bytes } = await packCopy(copy, signal);
      await pipeline(
        stream,
        counting(bytes, (progress) => onStep('copy', progress)),
        createGzip(),
        createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }),
        { signal },
      ).catch((cause: unknown) => {
        throw brokenOff(file, cause);
      });
    } finally {
      removeCopy(copy.folder);
      await close();
    }
    manifest = await inspectBackup(partial, (progress) => onStep('check', progress), signal);
    signal.throwIfAborted();
    await finishBackupFile(partial, file);
  } catch (error) {
    throw signal.aborted ? givenUp('backup', file, error) : error;
  } finally {
    await rm(partial, { force: true });
  }
  return checked(file, manifest);
}

/** Reads a backup to its end and compares it with what it says of itself. */
export async function verifyBackup(file: string, onStep: OnBackupStep): Promise<CheckedBackup> {
  const manifest = await inspectBackup(file, (progress) => onStep('check', progress));
  return checked(file, manifest);
}

/**
 * Makes a new data directory from a backup: see `restore-backup.ts`.
 *
 * @throws PalimpsestError `shutting_down` once the signal is aborted, which leaves the folder as it was
 */
export async function restoreBackup(
  file: string,
  dataDir: string,
  onStep: OnBackupStep,
  signal: AbortSignal,
): Promise<CheckedBackup> {
  const manifest = await restoreInto({ file, root: dataDir, onProgress: onStep, signal }).catch(
    (error: unknown) => {
      throw signal.aborted ? givenUp('restoring', dataDir, error) : error;
    },
  );
  return checked(file, manifest);
}

async function checked(file: string, manifest: BackupManifest): Promise<CheckedBackup> {
  const { files: _, folders: __, ...facts } = manifest;
  return { file, size: (await stat(file)).size, ...facts };
}

/** A copy of the store, and how to let go of where it comes from. */
interface ReachedCopy {
  readonly copy: DatabaseCopy;
  close(): Promise<void>;
}

async function reachStore(location: StoreLocation): Promise<ReachedCopy> {
  if ('databaseUrl' in location) throw backedUpElsewhere();
  if (!('dataDir' in location)) throw new Error('The command line keeps no store in memory.');
  const { dataDir } = location;
  try {
    return await copyDirectory(dataDir, packageVersion());
  } catch (error) {
    if (!PalimpsestError.isInstance(error) || error.code !== 'store_locked') throw error;
    return askHolder(dataDir, error);
  }
}

/** Asks the server that holds the store for a copy. What it wants to be shown only this user can read. */
async function askHolder(dataDir: string, locked: PalimpsestError): Promise<ReachedCopy> {
  const { url, operatorToken } = readHolder(dataDir) ?? {};
  if (url === undefined || operatorToken === undefined) throw locked;
  const headers = { authorization: `Bearer ${operatorToken}` };
  const response = await fetch(new URL(COPY_PATH, url), { method: 'POST', headers }).catch(
    (cause: unknown) => {
      throw new PalimpsestError(
        'server_unreachable',
        `The server at ${url}, which holds the store, does not answer.`,
        {
          details: [{ got: url, hint: 'Try again; a server that has ended no longer holds the store.' }],
          cause,
        },
      );
    },
  );
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw errorOf(response.status, answer);
  return { copy: copyIn(dataDir, answer, url), close: async () => {} };
}

const copyAnswerSchema = z.object({
  folder: z.string().refine((folder) => isCopyName(basename(folder))),
  productVersion: z.string(),
  schemaVersion: z.number(),
  postgresVersion: z.string(),
  createdAt: z.string(),
  rows: z.record(z.string(), z.number()),
});

/**
 * The copy that an answer names. It is packed and then removed, so it is looked for in this very data directory and
 * nowhere else: the server may see the directory under another path, and on its port there may be another program by now.
 *
 * @throws PalimpsestError `server_unreachable` for an answer that no server of ours gives
 */
function copyIn(dataDir: string, answer: unknown, url: string): DatabaseCopy {
  const { success, data } = copyAnswerSchema.safeParse(answer);
  if (success) return { ...data, folder: join(dataDir, basename(data.folder)) };
  throw new PalimpsestError(
    'server_unreachable',
    `What answers at ${url} is not the server that holds the store.`,
    {
      details: [
        { got: url, hint: 'Nothing was copied or removed. Look at what listens there, then try again.' },
      ],
    },
  );
}

function givenUp(work: 'backup' | 'restoring', path: string, cause: unknown): PalimpsestError {
  return new PalimpsestError('shutting_down', `The ${work} was given up, and nothing of it was kept.`, {
    details: [{ path }],
    cause,
  });
}

function brokenOff(file: string, cause: unknown): PalimpsestError {
  return new PalimpsestError('store_unavailable', `The backup broke off: ${reasonOf(cause)}.`, {
    details: [
      {
        path: file,
        hint: 'Nothing of it was kept. Look at the disk (space, rights) and at the log of the server, then try again.',
      },
    ],
    cause,
  });
}
