import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PalimpsestError } from '../../core/errors.ts';
import { STORE_RETRY_SECONDS } from '../sql-errors.ts';
import { RESULT_PARSERS } from '../sql-values.ts';
import { FlushingNodeFs } from './flushing-node-fs.ts';
import { guardAgainstTraps } from './trap-guard.ts';

/** Where an engine keeps its data. */
export type EngineStorage =
  | { readonly kind: 'memory'; readonly contents: Uint8Array | null }
  | { readonly kind: 'directory'; readonly directory: string; readonly flushes: boolean };

/** A running Postgres in WebAssembly. */
export interface Engine {
  readonly pglite: PGlite;
  /** The last lines it has logged about itself; none repeats what is stored. */
  readonly log: readonly string[];
  /** Frees what a broken engine still holds. It must not be called any more. */
  abandon(): void;
}

/** Switches fsync off: the first of PGlite's default parameters we do not want on disk. */
const NO_FSYNC = '-F';

/** Settings on top of PGlite's own. */
const SETTINGS = [
  // The default, 128 MB, makes the process 90 MB larger (400 against 310 after opening) and no query of ours
  // faster: the kernel caches files too, and rankings are computed from columns that are resident in Node.
  'shared_buffers=64MB',
  // Segments kept for reuse. Nothing archives them, and 16 MB is written in seconds.
  'min_wal_size=32MB',
  // PGlite's default, fdatasync, is a system call that Emscripten answers without doing anything.
  'wal_sync_method=fsync',
];

/**
 * For initdb. With the default of 16 MB a new database is twice as large (24 MB against 13) and takes twice as
 * long to unpack; writing 66 MB of log took the same time with 1, 4 and 16.
 */
const INITDB_PARAMETERS = ['--wal-segsize=1'];

/** Lines of the engine's log kept to explain a failure. */
const LOG_LINES = 12;

/**
 * A line about the engine itself, such as a flush that failed. All others may repeat what somebody stored (`ERROR`,
 * `DETAIL`, `STATEMENT` and their continuations, which begin with a tab), and a failure is told to whoever asks next.
 */
const TELLS_OF_ENGINE = /^\S+ \S+ \S+ \[\d+\] (PANIC|FATAL|WARNING|LOG): /;

/** Starts an engine. On an existing directory this includes recovery after a kill or a power cut. */
export async function startEngine(storage: EngineStorage): Promise<Engine> {
  const log: string[] = [];
  const { options, closeFiles } = storageOptions(storage);
  const pglite = new PGlite({
    ...options,
    extensions: { vector },
    startParams: startParameters(storage),
    onStderr: (line) => {
      if (TELLS_OF_ENGINE.test(line)) log.push(line);
      if (log.length > LOG_LINES) log.shift();
      return false;
    },
  });
  const abandon = () => {
    stopTimers(pglite);
    closeFiles();
  };
  try {
    await pglite.waitReady;
  } catch (cause) {
    const error = cannotStart(storage, log, cause);
    abandon();
    throw error;
  }
  guardAgainstTraps(pglite);
  // Nothing but ours, so that values come out as they do from `pg`. Bound values are text already.
  pglite.parsers = Object.fromEntries(RESULT_PARSERS);
  pglite.serializers = {};
  return { pglite, log, abandon };
}

function storageOptions(storage: EngineStorage): { options: PGliteOptions; closeFiles: () => void } {
  if (storage.kind === 'memory') {
    const { contents } = storage;
    const options =
      contents === null
        ? { initDbStartParams: INITDB_PARAMETERS }
        : { loadDataDir: new Blob([new Uint8Array(contents)]) };
    return { options, closeFiles: () => {} };
  }
  const fs = new FlushingNodeFs(storage.directory, storage.flushes);
  return { options: { fs }, closeFiles: () => fs.closeFiles() };
}

/**
 * Postgres writes its statistics by a timer that sets itself again, and so would keep a broken engine, its
 * memory and this process alive. Once aborted, the engine is not called by it any more.
 */
function stopTimers(pglite: PGlite): void {
  // Absent when the start failed before the module was loaded.
  const module = pglite.Module as unknown as { _abort(): void; _clear_setitimer(): void } | undefined;
  try {
    module?._clear_setitimer();
    module?._abort();
  } catch {
    // Aborting throws, that is how it returns.
  }
}

function startParameters(storage: EngineStorage): string[] {
  const flushes = storage.kind === 'directory' && storage.flushes;
  const defaults = PGlite.defaultStartParams.filter((parameter) => !(flushes && parameter === NO_FSYNC));
  return [...defaults, ...SETTINGS.flatMap((setting) => ['-c', setting])];
}

function cannotStart(storage: EngineStorage, log: readonly string[], cause: unknown): PalimpsestError {
  const place = storage.kind === 'directory' ? `in ${storage.directory}` : 'in memory';
  return new PalimpsestError('store_unavailable', `The embedded database ${place} did not start.`, {
    details: [
      {
        got: log.join('\n'),
        hint: 'The last lines of its log say why. If its files are damaged, restore the directory from a backup.',
      },
    ],
    retryAfterSeconds: STORE_RETRY_SECONDS,
    cause,
  });
}
