import { v7 as uuidv7 } from 'uuid';
import type { Config } from './config/config.ts';
import { BOOSTED_PROFILE, DEFAULT_PROFILE, WEIGHTED_PROFILE } from './core/defaults.ts';
import type { Clock, EmbeddingProvider, EmbeddingService } from './core/ports.ts';
import { singleModelService } from './core/single-model.ts';
import { checkedProvider } from './embedding/checked.ts';
import { createEmbeddingModes, type EmbeddingConfig } from './embedding/modes.ts';
import { LOCAL_OPERATOR } from './service/local-operator.ts';
import { createMemoryService, type MemoryService } from './service/memory-service.ts';
import { type OpenedStore, openStore, type StoreLocation } from './store/open-store.ts';

/** Puts the parts together. Nothing else in this product knows all of them. */

export interface MemoryOptions {
  readonly location: StoreLocation;
  readonly embedding: EmbeddingChoice;
  readonly clock?: Clock | undefined;
  /** Told of failures that no caller waits for. */
  readonly onBackgroundError?: ((error: unknown) => void) | undefined;
}

/** What makes the vectors: a configuration, or a provider of one's own. */
export type EmbeddingChoice = EmbeddingConfig | EmbeddingProvider;

export interface OpenedMemoryService {
  readonly service: MemoryService;
  /** Lets a process that finds the data directory taken know where the data is served. */
  setUrl(url: string): void;
  /** Finishes what is running and lets go of everything. Further calls do nothing. */
  close(): Promise<void>;
}

const PROFILES = new Map([BOOSTED_PROFILE, WEIGHTED_PROFILE].map((profile) => [profile.name, profile]));

/** Opens a store and the service on it. */
export async function openMemoryService(options: MemoryOptions): Promise<OpenedMemoryService> {
  const { location, clock = Date.now, onBackgroundError } = options;
  const embedding = embeddingServiceOf(options.embedding);
  const opened = await openStore(location, { clock, onBackgroundError });
  const service = createMemoryService({
    store: opened.store,
    embedding,
    clock,
    newId: () => uuidv7(),
    profiles: PROFILES,
    defaultProfile: DEFAULT_PROFILE.name,
  });
  return { service, setUrl: (url) => opened.setUrl(url), close: once(() => closeAll(opened, embedding)) };
}

function embeddingServiceOf(choice: EmbeddingChoice): EmbeddingService {
  return 'embed' in choice ? singleModelService(checkedProvider(choice)) : createEmbeddingModes(choice);
}

async function closeAll({ store }: OpenedStore, embedding: EmbeddingService): Promise<void> {
  const results = await Promise.allSettled([store.close(), embedding.close()]);
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

/** What a process was configured to use, opened. */
export async function openMemory(config: Config): Promise<OpenedMemoryService> {
  const { createLogger } = await import('./http/log.ts');
  const logger = createLogger(config.logLevel);
  return openMemoryService({
    location: config.store,
    embedding: { mode: 'local', local: config.embedding },
    onBackgroundError: (error) => logger.warn({ err: error }, 'background work failed'),
  });
}

/** Serves the configured store over HTTP to this machine alone. */
export async function serve(config: Config): Promise<{ readonly url: string; close(): Promise<void> }> {
  // Loaded here, so that the library does not load a web server.
  const [{ buildHttpApp }, { createLogger }, { requireLocalName, requireLoopback }, { serveHttp }] =
    await Promise.all([
      import('./http/app.ts'),
      import('./http/log.ts'),
      import('./http/loopback.ts'),
      import('./http/serve-http.ts'),
    ]);
  requireLoopback(config.http.host);
  const memory = await openMemory(config);
  try {
    const app = buildHttpApp({
      service: memory.service,
      logger: createLogger(config.logLevel),
      accessOf: (request) => {
        requireLocalName(request.headers.host);
        return LOCAL_OPERATOR;
      },
    });
    const server = await serveHttp(app, config.http);
    memory.setUrl(server.url);
    return {
      url: server.url,
      close: async () => {
        await server.close();
        await memory.close();
      },
    };
  } catch (error) {
    await memory.close();
    throw error;
  }
}
