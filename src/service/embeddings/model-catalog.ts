import type { KnownModel } from '../../core/embedding-state.ts';
import { PalimpsestError } from '../../core/errors.ts';
import type { EmbeddingService } from '../../core/ports.ts';
import type { JsonObject } from '../../core/types.ts';
import { atMostEvery, type ServiceLog } from '../service-log.ts';

export interface ModelCatalogParts {
  /** What this process is configured with. */
  readonly configured: EmbeddingService;
  /** What another process opens one of the configured models with; null where none can. */
  readonly settingsOf: (modelId: string) => JsonObject | null;
  /** The settings of a provider by its name or its configuration. @throws PalimpsestError `invalid_config` */
  readonly settingsFor: (provider: string | JsonObject) => JsonObject;
  /** Opens a model alone. @throws PalimpsestError `invalid_config` where this process can not */
  readonly open: (settings: JsonObject) => EmbeddingService;
}

/** Every model this process can ask: the configured ones, and those the database says how to open. */
export interface ModelCatalog {
  readonly configured: EmbeddingService;
  settingsOf(modelId: string): JsonObject | null;
  /**
   * The service that answers queries under this model, or by its fallback. Null where this process can not ask the
   * model, which is logged: it is not installed, its key is missing, or embeddings are disabled.
   */
  forQueries(model: KnownModel): EmbeddingService | null;
  /** A service whose `embedUnder` knows this model. */
  forDocuments(model: KnownModel): EmbeddingService | null;
  /** Closes what was opened; the configured service is its owner's. */
  close(): Promise<void>;
}

/** Whether a model can be opened may change: a key file appears. */
const TRY_AGAIN_MS = 60_000;

export function createModelCatalog(parts: ModelCatalogParts, log: ServiceLog): ModelCatalog {
  const { configured } = parts;
  const opened = new Map<string, EmbeddingService>();
  const failed = new Map<string, { readonly until: number; readonly say: () => void }>();

  function open(model: KnownModel): EmbeddingService | null {
    const known = opened.get(model.modelId);
    if (known !== undefined) return known;
    const failure = failed.get(model.modelId);
    if (failure !== undefined && performance.now() < failure.until) return null;
    try {
      const service = openModel(model, parts);
      opened.set(model.modelId, service);
      failed.delete(model.modelId);
      return service;
    } catch (error) {
      // Whatever it is, the other models go on.
      const say = failure?.say ?? unavailable(model, log, error);
      say();
      failed.set(model.modelId, { until: performance.now() + TRY_AGAIN_MS, say });
      return null;
    }
  }

  return {
    configured,
    settingsOf: parts.settingsOf,
    forQueries(model) {
      if (configured.mode === 'disabled') return null;
      return configured.models[0]?.modelId === model.modelId ? configured : open(model);
    },
    forDocuments(model) {
      if (configured.mode === 'disabled') return null;
      return configured.models.some(({ modelId }) => modelId === model.modelId) ? configured : open(model);
    },
    async close() {
      await Promise.all([...opened.values()].map((service) => service.close()));
    },
  };
}

function openModel({ modelId, settings }: KnownModel, parts: ModelCatalogParts): EmbeddingService {
  if (settings === null) {
    throw new PalimpsestError(
      'invalid_config',
      `Only the program that brought the embedding model ${modelId} can use it.`,
      { details: [{ got: modelId, hint: 'Open the store with that provider, or change to another model.' }] },
    );
  }
  const service = parts.open(settings);
  const made = service.models[0]?.modelId;
  if (made === modelId) return service;
  throw new PalimpsestError(
    'invalid_config',
    `What is kept about the embedding model ${modelId} gives the model ${made ?? 'none'} here.`,
    { details: [{ got: made ?? null, allowed: modelId, hint: 'Is this another version of the program?' }] },
  );
}

const LOG_EVERY_MS = 600_000;

function unavailable({ modelId }: KnownModel, log: ServiceLog, error: unknown): () => void {
  return atMostEvery(
    LOG_EVERY_MS,
    () => performance.now(),
    () =>
      log.warn(
        'searches here use an embedding model that this process can not; they compare words',
        { model_id: modelId },
        error,
      ),
  );
}
