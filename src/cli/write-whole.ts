import type { Stats } from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { hasCode, reasonOf } from '../core/errors.ts';
import { UsageError } from './usage-error.ts';

export type Write = (text: string) => Promise<void>;

/** Only its user may read what has no other rights yet. */
const OWN_FILE = 0o600;

/**
 * Writes a file that gets its name when it is whole. What fails or is given up leaves nothing behind, and a file
 * that was to be replaced as it was. A device or a pipe is written to as it is.
 *
 * @param mayReplace - Whether a file that exists may be replaced.
 * @throws UsageError for a file that exists or that can't be written
 */
export async function writeWhole<T>(
  file: string,
  mayReplace: boolean,
  work: (write: Write) => Promise<T>,
): Promise<T> {
  const found = await existing(file);
  if (found?.isDirectory()) throw new UsageError(`${file} is a directory. Name a file in it.`);
  if (found !== undefined && !mayReplace) throw fileExists(file);
  if (found !== undefined && !found.isFile()) return intoFile({ path: file, named: file, flags: 'w' }, work);
  // A link stays a link.
  const place = found === undefined ? file : await realpath(file);
  const partial = `${place}.partial-${process.pid}`;
  try {
    const mode = found === undefined ? OWN_FILE : found.mode;
    const result = await intoFile({ path: partial, named: file, flags: 'wx', mode }, work);
    if (found === undefined) await reserve(file);
    await rename(partial, place);
    return result;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function existing(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw notWritable(file, error);
  }
}

/** Renaming alone would replace a file that came into being meanwhile. */
async function reserve(file: string): Promise<void> {
  try {
    await (await open(file, 'wx', OWN_FILE)).close();
  } catch (error) {
    throw hasCode(error, 'EEXIST') ? fileExists(file) : notWritable(file, error);
  }
}

interface Target {
  readonly path: string;
  /** The file as errors name it. */
  readonly named: string;
  readonly flags: 'w' | 'wx';
  /** Undefined where there is no file to make, and nothing to keep over a power cut. */
  readonly mode?: number | undefined;
}

async function intoFile<T>(
  { path, named, flags, mode }: Target,
  work: (write: Write) => Promise<T>,
): Promise<T> {
  const handle = await open(path, flags, mode).catch((error: unknown) => {
    throw notWritable(named, error);
  });
  try {
    const result = await work((text) =>
      handle.writeFile(text).catch((error: unknown) => {
        throw notWritable(named, error);
      }),
    );
    if (mode !== undefined) await handle.sync();
    return result;
  } finally {
    await handle.close();
  }
}

function fileExists(file: string): UsageError {
  return new UsageError(`${file} exists. Add --force to replace it.`);
}

function notWritable(file: string, error: unknown): UsageError {
  const reason = reasonOf(error);
  return new UsageError(`${file} can't be written: ${reason}.`);
}
