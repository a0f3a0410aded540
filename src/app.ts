import { v7 as uuidv7 } from 'uuid';
import type { Config } from './config/config.ts';
import type { EmbeddingConfig } from './config/embedding-config.ts';
import { packageVersion } from './config/package-version.ts';
import { toWireTrace } from './contract/ranking-trace.ts';
import { BOOSTED_PROFILE, DEFAULT_PROFILE, WEIGHTED_PROFILE } from './core/defaults.ts';
import { PalimpsestError } from './core/errors.ts';
import { DEFAULT_RETENTION, type KeyStore, type Retention } from './core/governance.ts';
import type { Inspection, ModelInspection } from './core/inspection.ts';
import type { Clock, Store, TokenCounter } from './core/ports.ts';
import type { RecallTrace } from './core/ranking/trace.ts';
import { bothTelemetries, type Telemetry } from './core/telemetry.ts';
import type { BoostedProfile, JsonObject, RankingProfile } from './core/types.ts';
import type { HnswSearchOptions } from './core/vector-index.ts';
import { createEmbeddingModes, type EmbeddingConfig as ModesConfig } from './embedding/modes.ts';
import { type EmbeddingChoice, type OpenedModels, openModels } from './embedding/open-models.ts';
import { providerConfigOf } from './embedding/provider-config.ts';
import type { ProviderParts } from './embedding/registry.ts';
import { createKeySecret } from './identity/key-secret.ts';
import type { GovernanceService } from './service/governance-service.ts';
import type { MemoryService } from './service/memory-service.ts';
import type { ReembedService } from './service/reembed-service.ts';
import type { ServiceLog } from './service/service-log.ts';
import { createServices, type Services } from './service/services.ts';
import type { VectorIndexService } from './service/vector-index-service.ts';
import type { DatabaseCopy } from './store/backup/take-backup.ts';
import type { HolderTokens } from './store/data-directory-lock.ts';
import { diskSpace } from './store/disk-space.ts';
import { inspectStore } from './store/inspect-store.ts';
import { type OpenedStore, openStore, type StoreLocation } from './store/open-store.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { createSpans } from './telemetry/spans.ts';
import { checkTokenizerName, createTokenCounter, DEFAULT_TOKENIZER } from './tokenizer/token-counter.ts';

/** Puts the parts together. Nothing else in this product knows all of them. */

export interface MemoryOptions {
  readonly location: StoreLocation;
  readonly embedding: EmbeddingChoice;
  /** What providers get from around them. */
  readonly providerParts?: ProviderParts | undefined;
  /** The built-in profile `boosted`. Default: the product's. */
  readonly boosted?: BoostedProfile | undefined;
  readonly clock?: Clock | undefined;
  /** Told of failures that no caller waits for. */
  readonly onBackgroundError?: ((error: unknown) => void) | undefined;
  /** Told what no caller hears. Default: `onBackgroundError` hears of what failed, and nobody of the rest. */
  readonly log?: ServiceLog | undefined;
  /** How approximate indexes are searched, on a PostgreSQL where somebody made one. */
  readonly hnsw?: HnswSearchOptions | undefined;
  /** How long audit and traces are kept. */
  readonly retention?: Retention | undefined;
  /** Counts memory blocks, default `o200k_base`: one of `TOKENIZER_NAMES`, or a counter of one's own. */
  readonly tokenizer?: string | TokenCounter | undefined;
  /** Told what happens and how long it takes. Default: spans, which go to the SDK that the process has, if any. */
  readonly telemetry?: Telemetry | undefined;
  /** Whether missing vectors are filled in in the background. Default true. */
  readonly backfills?: boolean | undefined;
}

export interface OpenedMemoryService {
  readonly service: MemoryService;
  readonly governance: GovernanceService;
  /** Changes of the embedding model. */
  readonly reembed: ReembedService;
  /** Approximate indexes of vectors. */
  readonly indexes: VectorIndexService;
  /** Finds the keys that requests show. */
  readonly keys: KeyStore;
  /** What takes room in the database. */
  readonly sizes: Store['sizes'];
  readonly connections: Store['connections'];
  /** Told of everything that happens here; faces tell it of their requests. */
  readonly telemetry: Telemetry;
  /** How much of the audit and the traces waits, was written, and was lost. */
  readonly recorded: Services['recorded'];
  /** Resolves when the reads and refusals so far are in the audit. */
  flush(): Promise<void>;
  /** Lets a process that finds the data directory taken know where the data is served; `null`: no longer. */
  setUrl(url: string | null, tokens?: HolderTokens): void;
  /** Copies the whole store as it is now, all tenants of it, beside its files. Refused where it is not in files of ours. */
  copy(): Promise<DatabaseCopy>;
  /** Counts what a text costs in a prompt. */
  readonly tokenCounter: () => Promise<TokenCounter>;
  /** Finishes what is running and lets go of everything. Further calls do nothing. */
  close(): Promise<void>;
}

function builtInProfiles(boosted: BoostedProfile = BOOSTED_PROFILE): ReadonlyMap<string, RankingProfile> {
  return new Map([boosted, WEIGHTED_PROFILE].map((profile) => [profile.name, profile]));
}

/** Opens a store and the service on it. */
export async function openMemoryService(options: MemoryOptions): Promise<OpenedMemoryService> {
  const { location, clock = Date.now, onBackgroundError } = options;
  const models = openModels(options.embedding, options.providerParts);
  const log: ServiceLog = options.log ?? {
    warn: (_message, _detail, error) => error !== undefined && onBackgroundError?.(error),
  };
  const telemetry = options.telemetry ?? createSpans();
  const tokenCounter = tokenCounterOf(options.tokenizer ?? DEFAULT_TOKENIZER, log);
  const opened = await openStore(location, { clock, onBackgroundError, hnsw: options.hnsw });
  const services = createServices({
    store: opened.store,
    governance: opened.governance,
    embeddings: opened.embeddings,
    indexes: opened.indexes,
    models,
    backfills: options.backfills,
    clock,
    newId: () => uuidv7(),
    newKey: createKeySecret,
    traceForm: traceAsJson,
    log,
    tokenCounter,
    profiles: builtInProfiles(options.boosted),
    defaultProfile: DEFAULT_PROFILE.name,
    retention: options.retention ?? DEFAULT_RETENTION,
    telemetry,
  });
  return {
    service: services.memory,
    governance: services.governance,
    reembed: services.reembed,
    indexes: services.indexes,
    keys: opened.governance,
    sizes: () => opened.store.sizes(),
    connections: () => opened.store.connections(),
    telemetry,
    recorded: services.recorded,
    flush: () => services.flush(),
    setUrl: (url, tokens) => opened.setUrl(url, tokens),
    copy: () => opened.copy(packageVersion()),
    tokenCounter,
    close: once(() => closeAll(services, opened, models)),
  };
}

/** A name that stands for no tokenizer is refused now, not by the first request. */
function tokenCounterOf(choice: string | TokenCounter, log: ServiceLog): () => Promise<TokenCounter> {
  if (typeof choice !== 'string') return async () => choice;
  const name = checkTokenizerName(choice);
  const onFallback = (error: unknown) =>
    log.warn('the tokenizer could not be loaded; memory blocks are counted by their bytes', { name }, error);
  return () => createTokenCounter(name, { onFallback });
}

/** A trace as it is kept: the JSON a search answers, whose type says `undefined` where JSON has no field. */
function traceAsJson(trace: RecallTrace): JsonObject {
  return toWireTrace(trace) as JsonObject;
}

async function closeAll(
  services: Services,
  { store }: OpenedStore,
  { configured }: OpenedModels,
): Promise<void> {
  await services.close();
  const results = await Promise.allSettled([store.close(), configured.close()]);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work();
    return running;
  };
}

/** The providers check their own options when they are opened. */
function embeddingChoiceOf({ local, cloud, ...modes }: EmbeddingConfig): ModesConfig {
  return { ...modes, local: local && providerConfigOf(local), cloud: cloud && providerConfigOf(cloud) };
}

/**
 * What a process was configured to use, opened.
 *
 * @param metrics - Measures what happens. Default: nothing does.
 */
export async function openMemory(config: Config, metrics?: Metrics): Promise<OpenedMemoryService> {
  const { createLogger } = await import('./http/logger.ts');
  const logger = createLogger(config.logLevel);
  for (const warning of config.warnings) logger.warn(warning);
  const memory = await openMemoryService({
    location: config.store,
    embedding: embeddingChoiceOf(config.embedding),
    providerParts: { environment: config.environment, observe: metrics?.observeEmbedding },
    telemetry: telemetryOf(metrics),
    boosted: config.ranking.boosted,
    hnsw: config.hnsw,
    retention: config.retention,
    onBackgroundError: (error) => logger.warn({ err: error }, 'background work failed'),
    log: { warn: (message, detail, error) => logger.warn({ ...detail, err: error }, message) },
  });
  metrics?.watch(memory);
  return memory;
}

function telemetryOf(metrics: Metrics | undefined): Telemetry {
  return metrics === undefined ? createSpans() : bothTelemetries(createSpans(), metrics.telemetry);
}

/** A service that hangs is told of soon: somebody waits. */
const INSPECTION_CALLS = { timeoutMs: 10_000, patienceMs: 10_000, maxRetries: 0 };

/** Looks at everything that a configured server needs, and changes nothing. */
export async function inspect(config: Config): Promise<Inspection> {
  const { store } = config;
  return {
    database: await orError(() => inspectStore(store)),
    disk: 'dataDir' in store ? await diskSpace(store.dataDir) : null,
    models: await orError(() => inspectModels(config)),
  };
}

async function inspectModels({ embedding, environment }: Config): Promise<ModelInspection[]> {
  const models = createEmbeddingModes(embeddingChoiceOf(embedding), { environment, calls: INSPECTION_CALLS });
  try {
    return (await models.check()).map(({ model, error }) => ({ ...model, error }));
  } finally {
    await models.close();
  }
}

async function orError<T>(work: () => Promise<T>): Promise<T | PalimpsestError> {
  try {
    return await work();
  } catch (error) {
    if (PalimpsestError.isInstance(error)) return error;
    throw error;
  }
}
