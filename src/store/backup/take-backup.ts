import { randomUUID } from 'node:crypto';
import { constants, createReadStream, rmSync } from 'node:fs';
import { cp, readdir, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { packTar, type TarSource } from 'modern-tar/fs';
import { hasCode } from '../../core/errors.ts';
import { onDisk } from '../disk-errors.ts';
import type { SqlDatabase, SqlTransaction } from '../sql-database.ts';
import { type BackupFile, type BackupManifest, manifestText } from './backup-manifest.ts';
import { fileHash } from './file-hash.ts';

/** A copy of an embedded database as it was at one moment, in files. Whoever asked for it removes it. */
export interface DatabaseCopy extends CopyFacts {
  /** Folder that holds it. */
  readonly folder: string;
}

/** What is known of a copy without looking into it. */
export type CopyFacts = Omit<BackupManifest, 'files' | 'folders'>;

export interface CopySource {
  readonly database: SqlDatabase;
  /** Folder of the database's files. */
  readonly files: string;
  /** Folder the copy is made in, on the same disk. */
  readonly root: string;
  readonly productVersion: string;
}

const COPY_PREFIX = 'postgres.copy-';
const COPY_NAME = new RegExp(`^${COPY_PREFIX}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`);

/** Whether a folder of a data directory may be a copy of its database. */
export function isCopyName(name: string): boolean {
  return COPY_NAME.test(name);
}

/** The engine's note of who runs on these files: true of the original alone. */
const NOT_COPIED = new Set(['postmaster.pid', 'postmaster.opts']);
/** Where the database's files are in the archive. */
export const FILES_IN_ARCHIVE = 'files';
export const MANIFEST_IN_ARCHIVE = 'manifest.json';

/**
 * Copies an embedded database as it is at one moment. Everything that was acknowledged before is in the copy, and
 * nothing of what comes after. Others wait while the files are copied beside their place, and no longer: packing the
 * copy is for the process that wants the backup. docs/decisions/backup.md says what else was thought of.
 */
export function copyDatabase(source: CopySource): Promise<DatabaseCopy> {
  return onDisk(source.root, () => copyInto(join(source.root, `${COPY_PREFIX}${randomUUID()}`), source));
}

async function copyInto(folder: string, source: CopySource): Promise<DatabaseCopy> {
  await removeLeftCopies(source.root, ABANDONED_AFTER_MS);
  try {
    const facts = await source.database.transaction(async (tx) => {
      const found = await readFacts(tx);
      // From here to the end of the transaction the engine does nothing, so its files are whole and stay as they are.
      await tx.query({ text: 'CHECKPOINT', values: [] });
      await copyFiles(source.files, folder);
      return found;
    });
    return { folder, productVersion: source.productVersion, ...facts };
  } catch (error) {
    removeCopy(folder);
    throw error;
  }
}

export function removeCopy(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Nobody packs for so long: the process that asked for the copy was killed. */
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Removes copies that nobody will.
 *
 * @param olderThanMs - Age from which on a copy counts as left. 0 only for whoever holds the directory and has just
 * opened it.
 */
export async function removeLeftCopies(root: string, olderThanMs = 0): Promise<void> {
  for (const name of await readdir(root)) {
    const copy = join(root, name);
    if (!name.startsWith(COPY_PREFIX) || Date.now() - (await changedAt(copy)) < olderThanMs) continue;
    removeCopy(copy);
  }
}

/** In milliseconds since the epoch; never, where whoever made the folder has just removed it. */
async function changedAt(folder: string): Promise<number> {
  try {
    return (await stat(folder)).mtimeMs;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** The archive of a copy, a tar. */
export interface PackedCopy {
  readonly manifest: BackupManifest;
  /** It can be read once. */
  readonly stream: Readable;
  /** Bytes of the files in it; the archive is a little larger. */
  readonly bytes: number;
}

/** @param signal - Rejects with its reason while the files are still being hashed. */
export async function packCopy(
  { folder, ...facts }: DatabaseCopy,
  signal?: AbortSignal,
): Promise<PackedCopy> {
  const { files, folders } = await listFiles(folder, signal);
  const manifest = { ...facts, folders, files };
  const stream = packTar(sourcesOf(folder, manifest));
  return { manifest, stream, bytes: files.reduce((sum, { size }) => sum + size, 0) };
}

async function readFacts(tx: SqlTransaction): Promise<Omit<CopyFacts, 'productVersion'>> {
  const [row] = await tx.query<{ version: string; schema: number; now: Date }>({
    text: `SELECT current_setting('server_version') AS version,
        (SELECT max(version) FROM app.schema_migrations)::integer AS schema, clock_timestamp() AS now`,
    values: [],
  });
  if (row === undefined) throw new Error('The database does not say which version it is.');
  return {
    postgresVersion: row.version,
    schemaVersion: row.schema,
    createdAt: row.now.toISOString(),
    rows: await countRows(tx),
  };
}

/** Rows of every table of ours, as the superuser sees them. */
export async function countRows(tx: SqlTransaction): Promise<Record<string, number>> {
  const tables = await tx.query<{ name: string; counting: string }>({
    text: `SELECT tablename::text AS name, format('SELECT count(*)::integer AS rows FROM app.%I', tablename) AS counting
      FROM pg_tables WHERE schemaname = 'app' ORDER BY tablename`,
    values: [],
  });
  const counts: Record<string, number> = {};
  for (const { name, counting } of tables) {
    const [row] = await tx.query<{ rows: number }>({ text: counting, values: [] });
    counts[name] = row?.rows ?? 0;
  }
  return counts;
}

/** Shares the blocks with the original where the file system can. */
function copyFiles(from: string, to: string): Promise<void> {
  return cp(from, to, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (path) => !NOT_COPIED.has(basename(path)),
  });
}

async function listFiles(
  root: string,
  signal: AbortSignal | undefined,
): Promise<{ files: BackupFile[]; folders: string[] }> {
  const files: BackupFile[] = [];
  const folders: string[] = [];
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    signal?.throwIfAborted();
    const place = join(entry.parentPath, entry.name);
    const path = relative(root, place).split(sep).join('/');
    if (entry.isDirectory()) folders.push(path);
    else {
      const [{ size }, sha256] = await Promise.all([
        stat(place),
        fileHash(createReadStream(place, { signal })),
      ]);
      files.push({ path, size, sha256 });
    }
  }
  return { files, folders };
}

function sourcesOf(copy: string, manifest: BackupManifest): TarSource[] {
  const files = manifest.files.map(({ path }) => ({
    type: 'file' as const,
    source: join(copy, path),
    target: `${FILES_IN_ARCHIVE}/${path}`,
    mode: 0o600,
  }));
  const content = manifestText(manifest);
  return [{ type: 'content', content, target: MANIFEST_IN_ARCHIVE, mode: 0o600 }, ...files];
}
