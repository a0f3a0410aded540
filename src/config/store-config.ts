import { resolve } from 'node:path';
import envPaths from 'env-paths';
import { DATABASE_URL_FORM, isPostgresUrl, MAX_CONNECTIONS } from '../core/database-location.ts';
import type { PalimpsestError } from '../core/errors.ts';
import { secret, text, wholeNumber } from './form.ts';
import { invalidConfig } from './invalid-config.ts';
import { defineSettings, type Found, type ReadSetting, SOURCES } from './setting.ts';

/** Where entries are kept: in a directory of this machine, or in a PostgreSQL with pgvector. */
export type StoreLocation =
  | { readonly dataDir: string }
  | { readonly databaseUrl: string; readonly maxConnections: number };

export const DEFAULT_MAX_CONNECTIONS = 10;

export const STORE_SETTINGS = defineSettings({
  dataDir: {
    key: 'store.data_dir',
    variable: 'PALIMPSEST_DATA_DIR',
    option: '--data-dir',
    form: text('a directory'),
    meaning: 'The embedded store. A relative path starts at the working directory.',
    standard: "the platform's data folder, such as `~/.local/share/palimpsest`",
  },
  databaseUrl: {
    key: 'store.database_url',
    variable: 'PALIMPSEST_DATABASE_URL',
    option: '--database-url',
    form: secret(DATABASE_URL_FORM, isPostgresUrl),
    meaning:
      'A PostgreSQL 15+ with pgvector 0.8+ instead. `PGPASSWORD` and `~/.pgpass` keep the password out of it.',
    standard: 'none: the embedded store',
  },
  maxConnections: {
    key: 'store.max_connections',
    variable: 'PALIMPSEST_MAX_CONNECTIONS',
    form: wholeNumber(1, MAX_CONNECTIONS),
    meaning: 'Connections to PostgreSQL that this process holds at most.',
    standard: String(DEFAULT_MAX_CONNECTIONS),
  },
});

/** The platform's folder for data of a program, such as `~/.local/share/palimpsest`. */
export function defaultDataDir(): string {
  return envPaths('palimpsest', { suffix: '' }).data;
}

/**
 * What was said with the highest rank counts: an option for the one place outranks an inherited variable for the
 * other, and a variable the file.
 *
 * @throws PalimpsestError `invalid_config` for two places that were said with equal rank
 */
export function storeConfig(read: ReadSetting): StoreLocation {
  const dataDir = read(STORE_SETTINGS.dataDir);
  const databaseUrl = read(STORE_SETTINGS.databaseUrl);
  if (dataDir.source !== null && dataDir.source === databaseUrl.source) throw twoPlaces(dataDir, databaseUrl);
  if (databaseUrl.value !== undefined && rank(databaseUrl) < rank(dataDir)) {
    const maxConnections = read(STORE_SETTINGS.maxConnections).value ?? DEFAULT_MAX_CONNECTIONS;
    return { databaseUrl: databaseUrl.value, maxConnections };
  }
  return { dataDir: resolve(dataDir.value ?? defaultDataDir()) };
}

/** 0 is the highest. */
function rank({ source }: Found<unknown>): number {
  return source === null ? SOURCES.length : SOURCES.indexOf(source);
}

function twoPlaces(dataDir: Found<string>, databaseUrl: Found<string>): PalimpsestError {
  return invalidConfig(
    `${dataDir.name} and ${databaseUrl.name} name two places for the same data.`,
    'both',
    'one of them',
  );
}
