import { hasCode, PalimpsestError, reasonOf } from '../core/errors.ts';

/** What a file system answers when it has no more room. */
const FULL = ['ENOSPC', 'EDQUOT'];
/** What it answers to who may not write. */
const NOT_WRITABLE = ['EROFS', 'EACCES', 'EPERM'];
const BROKEN = ['EIO'];

/**
 * Does work in a data directory; what its disk does not take is said in words, and not as a fault of this program.
 *
 * @throws PalimpsestError `store_unavailable` where the disk is full or fails, `invalid_config` where this user may
 *   not write
 */
export async function onDisk<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskError(directory, error) ?? error;
  }
}

/** The error of a file system in our words; undefined for any other. */
function diskError(directory: string, cause: unknown): PalimpsestError | undefined {
  const reason = reasonOf(cause);
  const about = (code: 'store_unavailable' | 'invalid_config', message: string, hint: string) =>
    new PalimpsestError(code, `${message}: ${reason}.`, { details: [{ path: directory, hint }], cause });
  if (hasCode(cause, ...FULL)) {
    const hint = 'Free some room, then try again. What was stored before is kept.';
    return about('store_unavailable', `The disk of the data directory ${directory} is full`, hint);
  }
  if (hasCode(cause, ...NOT_WRITABLE)) {
    const hint = 'Name a directory this user may create and write to.';
    return about('invalid_config', `The data directory ${directory} can't be written to`, hint);
  }
  if (hasCode(cause, ...BROKEN)) {
    const hint = 'Look at the disk, and have a backup at hand.';
    return about('store_unavailable', `The disk of the data directory ${directory} fails`, hint);
  }
  return undefined;
}
