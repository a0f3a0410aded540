import { constants, existsSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DiskSpace } from '../core/inspection.ts';

/** The room that a data directory has, or will have where it has not been made yet. */
export async function diskSpace(dataDir: string): Promise<DiskSpace> {
  const folder = nearestExisting(dataDir);
  const { bavail, bsize } = await statfs(folder);
  return { folder, freeBytes: bavail * bsize, isWritable: await isWritable(folder) };
}

function nearestExisting(path: string): string {
  const parent = dirname(path);
  return existsSync(path) || parent === path ? path : nearestExisting(parent);
}

async function isWritable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK);
    return true;
  } catch {
    // Whatever keeps us from it, we can't write there.
    return false;
  }
}
