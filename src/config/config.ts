import type { Retention } from '../core/governance.ts';
import { nearestName } from '../core/nearest-name.ts';
import type { HnswSearchOptions } from '../core/vector-index.ts';
import { type IsThere, type ReadText, readConfigFile } from './config-file.ts';
import { EMBEDDING_SETTINGS, type EmbeddingConfig, embeddingConfig } from './embedding-config.ts';
import type { Environment } from './environment.ts';
import { word } from './form.ts';
import { HNSW_SETTINGS, hnswConfig } from './hnsw-config.ts';
import { HTTP_SETTINGS, type HttpConfig, httpConfig } from './http-config.ts';
import { IDENTITY_SETTINGS, type IdentityConfig, identityConfig, REFUSED_KEYS } from './identity-config.ts';
import { invalidConfig } from './invalid-config.ts';
import { RANKING_SETTINGS, type RankingConfig, rankingConfig, rankingWarnings } from './ranking-config.ts';
import { RETENTION_SETTINGS, retentionConfig } from './retention-config.ts';
import { defineSettings, type Setting, settingReader } from './setting.ts';
import { STORE_SETTINGS, type StoreLocation, storeConfig } from './store-config.ts';
import { type TelemetryConfig, telemetryConfig, telemetryWarnings } from './telemetry-config.ts';

export type { Environment } from './environment.ts';

export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** What this process was told at its start, complete and checked. */
export interface Config {
  /** The configuration file that was read; null: none. */
  readonly file: string | null;
  readonly store: StoreLocation;
  readonly http: HttpConfig;
  readonly identity: IdentityConfig;
  /** Shown to a server that holds the data directory and asks who asks. Default: nothing is shown. */
  readonly apiKey: string | undefined;
  readonly retention: Retention;
  /** Default info. */
  readonly logLevel: LogLevel;
  readonly ranking: RankingConfig;
  readonly embedding: EmbeddingConfig;
  readonly telemetry: TelemetryConfig;
  /** How approximate indexes are searched. */
  readonly hnsw: HnswSearchOptions;
  /** The variables of this process, for keys of services whose names the configuration holds. */
  readonly environment: Environment;
  /** What was said and is ignored, or is probably not meant. */
  readonly warnings: readonly string[];
}

/** The settings that the command line may give. What is undefined falls back to the environment and the file. */
export interface ConfigOptions {
  readonly config?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly databaseUrl?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly logLevel?: string | undefined;
}

const LOG_SETTINGS = defineSettings({
  logLevel: {
    key: 'log.level',
    variable: 'PALIMPSEST_LOG_LEVEL',
    option: '--log-level',
    form: word(LOG_LEVELS),
    meaning: 'What the log holds: JSON lines on standard error, never what is stored or asked.',
    standard: '`info`',
  },
});

/** Every setting by section, in the order of the documentation. */
export const SETTING_SECTIONS: Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>> = {
  store: STORE_SETTINGS,
  http: HTTP_SETTINGS,
  identity: IDENTITY_SETTINGS,
  embedding: EMBEDDING_SETTINGS,
  ranking: RANKING_SETTINGS,
  hnsw: HNSW_SETTINGS,
  retention: RETENTION_SETTINGS,
  log: LOG_SETTINGS,
};

/** Names the configuration file. Not one of `PALIMPSEST_…`: other programs of its kind call it so too. */
export const FILE_VARIABLE = 'EMBEDDING_CONFIG_PATH';
const FILE_OPTION = '--config';

const ALL_SETTINGS = Object.values(SETTING_SECTIONS).flatMap((section) => Object.values(section));
/** Every name of its own that this product reads from the environment. */
export const ENVIRONMENT_NAMES: readonly string[] = ALL_SETTINGS.flatMap(({ variable }) => variable ?? []);
/** Every key that the configuration file may hold. */
export const FILE_KEYS: readonly string[] = ALL_SETTINGS.flatMap(({ key }) => key ?? []);

const PREFIX = 'PALIMPSEST_';
/** For the project's own tests: theirs to read, not ours to refuse. */
const TEST_PREFIX = 'PALIMPSEST_TEST_';

/**
 * The configuration of this process: options first, then the environment, then the configuration file, then
 * defaults. An empty variable counts as unset.
 *
 * @param readText gives the text of a file; tests bring their own
 * @param isThere whether there is a file, told without opening it; tests bring their own
 * @throws PalimpsestError `invalid_config` for an unknown `PALIMPSEST_` variable, an unknown key of the file, and a
 *   value that means nothing
 */
export function loadConfig(
  options: ConfigOptions = {},
  environment: Environment = process.env,
  readText?: ReadText,
  isThere?: IsThere,
): Config {
  refuseUnknownNames(environment);
  const file = readConfigFile(namedFile(options, environment), FILE_KEYS, REFUSED_KEYS, readText, isThere);
  const read = settingReader({
    options: {
      '--data-dir': options.dataDir,
      '--database-url': options.databaseUrl,
      '--host': options.host,
      '--port': options.port,
      '--log-level': options.logLevel,
    },
    environment,
    file: file.values,
  });
  const ranking = rankingConfig(read);
  return {
    file: file.path,
    store: storeConfig(read),
    http: httpConfig(read),
    identity: identityConfig(read),
    apiKey: read(IDENTITY_SETTINGS.apiKey).value,
    retention: retentionConfig(read),
    logLevel: read(LOG_SETTINGS.logLevel).value ?? 'info',
    ranking,
    embedding: embeddingConfig(read),
    telemetry: telemetryConfig(environment),
    hnsw: hnswConfig(read),
    environment,
    warnings: [...file.warnings, ...rankingWarnings(ranking), ...telemetryWarnings(environment)],
  };
}

function namedFile(
  options: ConfigOptions,
  environment: Environment,
): { readonly path: string; readonly by: string } | undefined {
  if (options.config !== undefined) return { path: options.config, by: FILE_OPTION };
  const path = environment[FILE_VARIABLE] ?? '';
  return path === '' ? undefined : { path, by: FILE_VARIABLE };
}

function refuseUnknownNames(environment: Environment): void {
  const unknown = Object.keys(environment).find(
    (name) => name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX) && !ENVIRONMENT_NAMES.includes(name),
  );
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, ENVIRONMENT_NAMES);
  throw invalidConfig(
    `The environment variable ${unknown} is unknown.`,
    unknown,
    [...ENVIRONMENT_NAMES],
    nearest === null ? undefined : `Did you mean ${nearest}?`,
  );
}
