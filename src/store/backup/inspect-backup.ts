import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal, pipeline, Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { PalimpsestError, reasonOf } from '../../core/errors.ts';
import { type BackupFile, type BackupManifest, damagedBackup, parseManifest } from './backup-manifest.ts';
import { FILES_IN_ARCHIVE, MANIFEST_IN_ARCHIVE } from './take-backup.ts';

/** How far reading or writing a backup has come. */
export interface BackupProgress {
  readonly bytes: number;
  readonly total: number;
}

export type OnBackupProgress = (progress: BackupProgress) => void;

/**
 * Reads a whole backup and compares every file in it with its manifest. Writes nothing.
 *
 * @throws PalimpsestError `invalid_input` for a file that is no backup, or not the whole or unchanged one
 */
export async function inspectBackup(
  file: string,
  onProgress?: OnBackupProgress,
  signal?: AbortSignal,
): Promise<BackupManifest> {
  const archive = await openArchive(file, onProgress);
  if (signal !== undefined) addAbortSignal(signal, archive);
  try {
    return await compareWithManifest(entriesOf(archive));
  } catch (error) {
    signal?.throwIfAborted();
    throw PalimpsestError.isInstance(error)
      ? error
      : damagedBackup(`it can't be read: ${reasonOf(error)}`, error);
  } finally {
    archive.destroy();
  }
}

/** The tar in a backup's file. */
export async function openArchive(file: string, onProgress: OnBackupProgress = () => {}): Promise<Readable> {
  const total = await sizeOf(file);
  // A failure of one is a failure of the last, which its reader gets.
  return pipeline(createReadStream(file), counting(total, onProgress), createGunzip(), () => {});
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isFile()) return found.size;
  } catch (cause) {
    throw notReadable(file, reasonOf(cause), cause);
  }
  throw notReadable(file, 'it is no file');
}

function notReadable(file: string, reason: string, cause?: unknown): PalimpsestError {
  return new PalimpsestError('invalid_input', `The backup ${file} can't be read: ${reason}.`, {
    details: [{ path: file, hint: 'Name a file that palimpsest backup create has made.' }],
    cause,
  });
}

/** Passes bytes on and tells how many. */
export function counting(total: number, onProgress: OnBackupProgress): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      bytes += chunk.length;
      onProgress({ bytes, total });
      done(null, chunk);
    },
  });
}

async function* entriesOf(archive: Readable): AsyncGenerator<ParsedTarEntry> {
  const bytes = Readable.toWeb(archive) as ReadableStream<Uint8Array>;
  yield* bytes.pipeThrough(createTarDecoder({ strict: true }));
}

async function compareWithManifest(entries: AsyncGenerator<ParsedTarEntry>): Promise<BackupManifest> {
  const first = await entries.next();
  if (first.done === true || first.value.header.name !== MANIFEST_IN_ARCHIVE) {
    throw damagedBackup('it does not begin with a manifest');
  }
  const manifest = parseManifest(await new Response(first.value.body).text());
  const missing = new Map(manifest.files.map((file) => [`${FILES_IN_ARCHIVE}/${file.path}`, file]));
  for await (const entry of entries) {
    const { name } = entry.header;
    const expected = missing.get(name);
    if (expected === undefined) throw damagedBackup(`its manifest does not list ${name} (again)`);
    if (!(await isSame(entry, expected))) throw damagedBackup(`${name} has changed`);
    missing.delete(name);
  }
  const [lost] = missing.keys();
  if (lost !== undefined) throw damagedBackup(`${missing.size} files are missing, such as ${lost}`);
  return manifest;
}

async function isSame({ header, body }: ParsedTarEntry, { size, sha256 }: BackupFile): Promise<boolean> {
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return (header.type ?? 'file') === 'file' && header.size === size && hash.digest('hex') === sha256;
}
