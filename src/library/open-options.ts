import { unknownField } from '../contract/unknown-field.ts';
import { DATABASE_URL_FORM, isPostgresUrl, MAX_CONNECTIONS } from '../core/database-location.ts';
import { excerpt, invalidInput, type PalimpsestError } from '../core/errors.ts';
import type { Clock, TokenCounter } from '../core/ports.ts';

/**
 * How to open a memory. At most one of `dataDir` and `databaseUrl`; with neither it is kept in memory only.
 * `Embedding`: what makes the vectors, as whoever opens the memory takes it.
 */
export interface OpenOptions<Embedding extends object = object> {
  /** Folder of an embedded store; made if missing. One process at a time may use it. */
  readonly dataDir?: string | undefined;
  /** `postgres://…` of a PostgreSQL 15+ with pgvector 0.8+. */
  readonly databaseUrl?: string | undefined;
  /** Connections to PostgreSQL at most, 1 to 1000, default 10. */
  readonly maxConnections?: number | undefined;
  /** Makes the vectors. Default: hashing, which needs no model and no network. */
  readonly embedding?: Embedding | undefined;
  /**
   * What counts the tokens of memory blocks: `o200k_base` (default), `cl100k_base`, `utf8_bytes`, or a counter of
   * one's own.
   */
  readonly tokenizer?: string | TokenCounter | undefined;
  /** Tells the time in milliseconds since the epoch. Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /** Told of failures that no caller waits for, such as a lost idle connection. Default: they are dropped. */
  readonly onBackgroundError?: ((error: unknown) => void) | undefined;
}

/** Every option with what its value must be. */
const OPTION_TYPES: Readonly<Record<keyof OpenOptions, readonly string[]>> = {
  dataDir: ['string'],
  databaseUrl: ['string'],
  maxConnections: ['number'],
  embedding: ['object'],
  tokenizer: ['string', 'object'],
  clock: ['function'],
  onBackgroundError: ['function'],
};

type Location =
  | { dataDir: string }
  | { databaseUrl: string; maxConnections?: number | undefined }
  | { inMemory: true };

/**
 * Where the options say the data is. An unknown option is refused: a misspelt `dataDir` would otherwise open a
 * memory that is gone with the process.
 *
 * @throws PalimpsestError `invalid_input`
 */
export function locationOf(options: OpenOptions): Location {
  for (const [name, value] of Object.entries(options)) checkOption(name, value);
  const { dataDir, databaseUrl, maxConnections } = options;
  if (dataDir !== undefined && databaseUrl !== undefined) {
    throw invalidInput('dataDir and databaseUrl name two places for the same data. Give one of them.', {
      path: 'databaseUrl',
      allowed: 'dataDir or databaseUrl',
    });
  }
  if (maxConnections !== undefined && !isConnectionCount(maxConnections)) {
    throw wrongOption('maxConnections', maxConnections, `a whole number from 1 to ${MAX_CONNECTIONS}`);
  }
  if (databaseUrl !== undefined) {
    if (!isPostgresUrl(databaseUrl)) throw wrongOption('databaseUrl', databaseUrl, DATABASE_URL_FORM);
    return { databaseUrl, maxConnections };
  }
  if (dataDir === '') throw wrongOption('dataDir', dataDir, 'the path of a folder');
  return dataDir === undefined ? { inMemory: true } : { dataDir };
}

function isConnectionCount(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= MAX_CONNECTIONS;
}

function checkOption(name: string, value: unknown): void {
  if (!isOptionName(name)) {
    const { message, detail } = unknownField(name, name, Object.keys(OPTION_TYPES));
    throw invalidInput(message, detail);
  }
  const types = OPTION_TYPES[name];
  if (value === undefined || types.includes(value === null ? 'null' : typeof value)) return;
  throw wrongOption(name, value, `a ${types.join(' or ')}`);
}

function isOptionName(name: string): name is keyof OpenOptions {
  return Object.hasOwn(OPTION_TYPES, name);
}

function wrongOption(name: string, value: unknown, allowed: string): PalimpsestError {
  // A database URL may hold a password.
  const got = name === 'databaseUrl' ? `a ${typeof value} that is not shown` : excerpt(value);
  return invalidInput(`${name}: got ${got}; allowed: ${allowed}.`, { path: name, got, allowed });
}
