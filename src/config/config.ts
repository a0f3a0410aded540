import { resolve } from 'node:path';
import envPaths from 'env-paths';
import { excerpt, type PalimpsestError } from '../core/errors.ts';
import type { Retention } from '../core/governance.ts';
import { nearestName } from '../core/nearest-name.ts';
import { HTTP_NAMES, type HttpConfig, httpConfig } from './http-config.ts';
import { IDENTITY_NAMES, type IdentityConfig, identityConfig } from './identity-config.ts';
import { RETENTION_NAMES, retentionConfig } from './retention-config.ts';
import { invalidConfig, oneOf, type Setting } from './setting.ts';

/** Where entries are kept: in a directory of this machine, or in a PostgreSQL with pgvector. */
export type StoreLocation = { readonly dataDir: string } | { readonly databaseUrl: string };

export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** What this process was told at its start, complete and checked. */
export interface Config {
  readonly store: StoreLocation;
  readonly http: HttpConfig & {
    /** Default 127.0.0.1. */
    readonly host: string;
    /** 0..65535, default 7077. 0 takes any free port. */
    readonly port: number;
  };
  readonly identity: IdentityConfig;
  /** Shown to a server that holds the data directory and asks who asks. Default: nothing is shown. */
  readonly apiKey: string | undefined;
  readonly retention: Retention;
  /** Default info. */
  readonly logLevel: LogLevel;
  readonly embedding: {
    /** Name of a provider, default hashing. */
    readonly provider: string;
  };
}

/** The settings that the command line may give. What is undefined falls back to the environment. */
export interface ConfigOptions {
  readonly dataDir?: string | undefined;
  readonly databaseUrl?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly logLevel?: string | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 7077;

const PREFIX = 'PALIMPSEST_';
/** Every name this product reads from the environment. */
export const ENVIRONMENT_NAMES = [
  'PALIMPSEST_DATA_DIR',
  'PALIMPSEST_DATABASE_URL',
  'PALIMPSEST_HOST',
  'PALIMPSEST_PORT',
  'PALIMPSEST_LOG_LEVEL',
  'PALIMPSEST_EMBEDDING_PROVIDER',
  'PALIMPSEST_API_KEY',
  ...HTTP_NAMES,
  ...IDENTITY_NAMES,
  ...RETENTION_NAMES,
] as const;
/** For the project's own tests: theirs to read, not ours to refuse. */
const TEST_PREFIX = 'PALIMPSEST_TEST_';

/** The platform's folder for data of a program, such as `~/.local/share/palimpsest`. */
export function defaultDataDir(): string {
  return envPaths('palimpsest', { suffix: '' }).data;
}

/**
 * The configuration of this process: options first, then the environment, then defaults. An empty variable
 * counts as unset.
 *
 * @throws PalimpsestError `invalid_config` for an unknown `PALIMPSEST_` variable and for a value that means
 *   nothing
 */
export function loadConfig(options: ConfigOptions = {}, environment: Environment = process.env): Config {
  refuseUnknownNames(environment);
  const setting = (option: string | undefined, name: (typeof ENVIRONMENT_NAMES)[number]): Setting => {
    const inherited = environment[name] === '' ? undefined : environment[name];
    return option === undefined ? { value: inherited, name } : { value: option, name: optionName(name) };
  };
  return {
    store: storeLocation(
      options,
      setting(options.dataDir, 'PALIMPSEST_DATA_DIR'),
      setting(options.databaseUrl, 'PALIMPSEST_DATABASE_URL'),
    ),
    http: {
      host: setting(options.host, 'PALIMPSEST_HOST').value ?? DEFAULT_HOST,
      port: port(setting(options.port, 'PALIMPSEST_PORT')),
      ...httpConfig((name) => setting(undefined, name)),
    },
    identity: identityConfig((name) => setting(undefined, name)),
    apiKey: setting(undefined, 'PALIMPSEST_API_KEY').value,
    retention: retentionConfig((name) => setting(undefined, name)),
    logLevel: oneOf(LOG_LEVELS, setting(options.logLevel, 'PALIMPSEST_LOG_LEVEL')) ?? 'info',
    embedding: { provider: setting(undefined, 'PALIMPSEST_EMBEDDING_PROVIDER').value ?? 'hashing' },
  };
}

function optionName(name: string): string {
  return `--${name.slice(PREFIX.length).toLowerCase().replaceAll('_', '-')}`;
}

function refuseUnknownNames(environment: Environment): void {
  const known: readonly string[] = ENVIRONMENT_NAMES;
  const unknown = Object.keys(environment).find(
    (name) => name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX) && !known.includes(name),
  );
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, known);
  throw invalidConfig(
    `The environment variable ${unknown} is unknown.`,
    unknown,
    [...known],
    nearest === null ? undefined : `Did you mean ${nearest}?`,
  );
}

function storeLocation(options: ConfigOptions, dataDir: Setting, databaseUrl: Setting): StoreLocation {
  // An option for the one place outranks an inherited variable for the other.
  const isUrlMeant = databaseUrl.value !== undefined && options.dataDir === undefined;
  const isDirMeant = dataDir.value !== undefined && options.databaseUrl === undefined;
  if (isUrlMeant && isDirMeant) throw twoPlaces(dataDir, databaseUrl);
  if (options.dataDir !== undefined && options.databaseUrl !== undefined)
    throw twoPlaces(dataDir, databaseUrl);
  if (isUrlMeant && databaseUrl.value !== undefined) {
    return { databaseUrl: checkDatabaseUrl(databaseUrl.value, databaseUrl.name) };
  }
  if (dataDir.value === '') {
    throw invalidConfig(`${dataDir.name} is empty.`, '', 'a directory', 'Leave it out for the default.');
  }
  return { dataDir: resolve(dataDir.value ?? defaultDataDir()) };
}

function twoPlaces(dataDir: Setting, databaseUrl: Setting): PalimpsestError {
  return invalidConfig(
    `${dataDir.name} and ${databaseUrl.name} name two places for the same data.`,
    'both',
    'one of them',
    undefined,
  );
}

/** The URL may hold a password, so that no error repeats it. */
function checkDatabaseUrl(url: string, name: string): string {
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return url;
  throw invalidConfig(
    `${name} is not a PostgreSQL URL.`,
    'a text of another form',
    'postgres://user:password@host:5432/database',
    undefined,
  );
}

function port({ value, name }: Setting): number {
  if (value === undefined) return DEFAULT_PORT;
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  throw invalidConfig(
    `${name} is not a port: ${excerpt(value)}.`,
    value,
    'a whole number from 0 to 65535',
    undefined,
  );
}
