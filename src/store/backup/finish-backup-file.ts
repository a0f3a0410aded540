import { constants } from 'node:fs';
import { access, link, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode, PalimpsestError, reasonOf } from '../../core/errors.ts';
import { flushFolder } from '../pglite/data-directory.ts';

/** What file systems without hard links (exFAT, some network shares) answer. */
const NO_HARD_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP'];

/**
 * Looks whether a backup can be written to a file, before the store is copied for it.
 *
 * @throws PalimpsestError `conflict` for a file that exists, `invalid_input` for a folder that can't be written to
 */
export async function refuseUnwritable(file: string): Promise<void> {
  if (await exists(file)) throw fileExists(file);
  const folder = dirname(file);
  try {
    if ((await stat(folder)).isDirectory()) return await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw notWritable(folder, reasonOf(cause), cause);
  }
  throw notWritable(folder, 'it is no folder');
}

/**
 * Gives a whole backup its name, lasting over a power cut. A file that came into being meanwhile is not replaced.
 *
 * @throws PalimpsestError `conflict` for a file that exists
 */
export async function finishBackupFile(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw fileExists(file);
    if (!hasCode(error, ...NO_HARD_LINKS)) throw error;
    await renameToNew(partial, file);
  }
  await flushFolder(dirname(file));
}

/** Renaming alone would replace a file; one that we have just made may be replaced. */
async function renameToNew(partial: string, file: string): Promise<void> {
  try {
    await (await open(file, 'wx', 0o600)).close();
  } catch (error) {
    throw hasCode(error, 'EEXIST') ? fileExists(file) : error;
  }
  try {
    await rename(partial, file);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch {
    // What else is wrong with the path is found out by looking at its folder and by writing.
    return false;
  }
}

function fileExists(file: string): PalimpsestError {
  return new PalimpsestError('conflict', `${file} exists. A backup never replaces another one.`, {
    details: [{ path: file, hint: 'Name a new file, such as one with the date in its name.' }],
  });
}

function notWritable(folder: string, reason: string, cause?: unknown): PalimpsestError {
  return new PalimpsestError('invalid_input', `A backup can't be written to ${folder}: ${reason}.`, {
    details: [{ path: folder, hint: 'Name a file in a folder that exists and that you may write to.' }],
    cause,
  });
}
