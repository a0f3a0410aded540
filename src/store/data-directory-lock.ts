import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { PalimpsestError } from '../core/errors.ts';
import type { JsonObject } from '../core/types.ts';

/**
 * Keeps a data directory to one process: two of them destroy a PGlite silently. The lock is the kernel's, so
 * it ends with its holder, however that ends, and never before. docs/decisions/data-directory-lock.md
 * says why it is not a pid file, a heartbeat or a socket.
 */

/** Who holds a data directory. Written beside the lock for whoever finds it taken; the lock alone decides. */
export interface DataDirectoryHolder {
  readonly pid: number;
  readonly hostname: string;
  /** Time in ISO 8601. */
  readonly startedAt: string;
  /** Where the holder serves this data, as long as it does. */
  readonly url?: string;
  /** Since when it no longer does, because it ends. Time in ISO 8601. */
  readonly endingSince?: string;
  /** What that server wants to be shown, where it serves whoever may read this file and nobody else. */
  readonly token?: string;
  /** What that server wants to be shown by the operator, for what concerns the whole store, such as a backup. */
  readonly operatorToken?: string;
}

/** What a server wants to be shown. It stands in a file that only this user may read. */
export type HolderTokens = Pick<DataDirectoryHolder, 'token' | 'operatorToken'>;

export interface DataDirectoryLock {
  readonly directory: string;
  /**
   * Tells others where the data is served, so that they can go there instead. `null`: no longer, since the holder ends.
   * That has to be said before the port is free, for whoever takes it would be shown what is meant for the holder.
   */
  setUrl(url: string | null, tokens?: HolderTokens): void;
  /** Gives the directory free. Further calls do nothing. */
  release(): void;
}

const LOCK_FILE = 'palimpsest.lock';
const HOLDER_FILE = 'palimpsest.holder.json';
const HOLDER_IN_THE_MAKING = `${HOLDER_FILE}.new`;
/** The names of what stands in a directory for the lock. */
export const LOCK_FILES: readonly string[] = [LOCK_FILE, HOLDER_FILE, HOLDER_IN_THE_MAKING];
const LOCK_FILE_TEXT =
  'Locked by the process that uses this directory. Removing this file would let a second one destroy the data.\n';

/** Attempts to lock a file that somebody removes each time between opening and locking it. */
const MAX_ATTEMPTS = 10;

/**
 * Locks an existing directory, at once or not at all.
 *
 * @throws PalimpsestError `store_locked` when a process (this one included) holds it, naming the holder;
 * `invalid_config` where no lock can be had on this platform or file system.
 */
export async function lockDataDirectory(directory: string): Promise<DataDirectoryLock> {
  const tryLock = await loadLocking();
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const descriptor = openSync(join(directory, LOCK_FILE), 'a+', 0o600);
    try {
      if (!tryLockFile(tryLock, descriptor, directory)) throw lockedByAnother(directory);
      if (isStillThere(descriptor, directory)) return holdLock(directory, descriptor);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    closeSync(descriptor);
  }
  throw new PalimpsestError(
    'store_locked',
    `The lock file in ${directory} keeps being removed by another process.`,
  );
}

/** Removes what stands in a directory for a lock that was released. */
export function removeLock(directory: string): void {
  for (const name of LOCK_FILES) rmSync(join(directory, name), { force: true });
}

/** Who holds the directory, as far as its record says; undefined when it is missing or unreadable. */
export function readHolder(directory: string): DataDirectoryHolder | undefined {
  try {
    return parseHolder(JSON.parse(readFileSync(join(directory, HOLDER_FILE), 'utf8')));
  } catch {
    // The record only serves the message, and its writer may have died in the middle.
    return undefined;
  }
}

function parseHolder(record: unknown): DataDirectoryHolder | undefined {
  const { pid, hostname, startedAt, url, endingSince, token, operatorToken } = (record ?? {}) as Record<
    string,
    unknown
  >;
  if (typeof pid !== 'number' || typeof hostname !== 'string' || typeof startedAt !== 'string')
    return undefined;
  return {
    pid,
    hostname,
    startedAt,
    ...(typeof url === 'string' && { url }),
    ...(typeof endingSince === 'string' && { endingSince }),
    ...(typeof token === 'string' && { token }),
    ...(typeof operatorToken === 'string' && { operatorToken }),
  };
}

type TryLock = (descriptor: number) => boolean;

/**
 * Loaded when a lock is needed, so that a server on PostgreSQL runs where the addon does not. Its package has
 * addons for glibc Linux, macOS and Windows on x64 and arm64, and looks for one of its own on Alpine Linux.
 */
async function loadLocking(): Promise<TryLock> {
  try {
    const { tryLock } = await import('fs-native-extensions');
    return tryLock;
  } catch (cause) {
    throw new PalimpsestError(
      'invalid_config',
      `The embedded store can't lock its data directory on this platform (${process.platform}-${process.arch}), and does not run without the lock.`,
      {
        details: [
          {
            got: `${process.platform}-${process.arch}`,
            allowed: 'Linux with glibc, macOS or Windows, on x64 or arm64',
            hint: 'In a container take an image based on glibc (Debian, not Alpine), keep the store in memory, or use PostgreSQL.',
          },
        ],
        cause,
      },
    );
  }
}

function tryLockFile(tryLock: TryLock, descriptor: number, directory: string): boolean {
  try {
    return tryLock(descriptor);
  } catch (cause) {
    throw new PalimpsestError('invalid_config', `The file system of ${directory} does not support locks.`, {
      details: [{ got: directory, hint: 'Put the data directory on a local disk.' }],
      cause,
    });
  }
}

/** A file that was removed after it was opened would be locked by us and found free by everybody else. */
function isStillThere(descriptor: number, directory: string): boolean {
  const found = statSync(join(directory, LOCK_FILE), { throwIfNoEntry: false, bigint: true });
  return found !== undefined && found.ino === fstatSync(descriptor, { bigint: true }).ino;
}

function holdLock(directory: string, descriptor: number): DataDirectoryLock {
  const holder = { pid: process.pid, hostname: hostname(), startedAt: new Date().toISOString() };
  try {
    if (fstatSync(descriptor).size === 0) writeSync(descriptor, LOCK_FILE_TEXT);
    writeHolder(directory, holder);
  } catch (error) {
    // While it is held: whoever waits for it finds a file that is gone, and takes a new one.
    removeLock(directory);
    throw error;
  }
  let isHeld = true;
  return {
    directory,
    setUrl(url, tokens = {}) {
      if (!isHeld) return;
      const serving = url === null ? { endingSince: new Date().toISOString() } : { url, ...tokens };
      writeHolder(directory, { ...holder, ...serving });
    },
    release() {
      if (!isHeld) return;
      isHeld = false;
      rmSync(join(directory, HOLDER_FILE), { force: true });
      // Closing its last descriptor is what frees the lock.
      closeSync(descriptor);
    },
  };
}

/** Renamed into place, so that a reader sees a whole record or the one before. */
function writeHolder(directory: string, holder: DataDirectoryHolder): void {
  const file = join(directory, HOLDER_FILE);
  const inTheMaking = join(directory, HOLDER_IN_THE_MAKING);
  writeFileSync(inTheMaking, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  renameSync(inTheMaking, file);
}

function lockedByAnother(directory: string): PalimpsestError {
  const holder = readHolder(directory);
  return new PalimpsestError(
    'store_locked',
    `The data directory ${directory} is in use by ${describeHolder(holder)}.`,
    {
      details: [
        {
          path: directory,
          ...(holder !== undefined && { got: withoutTokens(holder) }),
          hint:
            holder?.url === undefined
              ? 'Stop that process, or give this one a directory of its own.'
              : `Use the server at ${holder.url}, stop it, or give this process a directory of its own.`,
        },
      ],
    },
  );
}

/** An error may be shown to anybody. */
function withoutTokens({ token: _, operatorToken: __, ...holder }: DataDirectoryHolder): JsonObject {
  return { ...holder };
}

function describeHolder(holder: DataDirectoryHolder | undefined): string {
  if (holder === undefined) return 'another process';
  const { pid, hostname, startedAt, url, endingSince } = holder;
  const isEnding = endingSince === undefined ? '' : ' and is about to end';
  const serving = url === undefined ? isEnding : ` and serves it at ${url}`;
  return `process ${pid} on ${hostname}, which has held it since ${startedAt}${serving}`;
}
