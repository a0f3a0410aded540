import { activeModelOfStore, type EmbeddingState } from '../../core/embedding-state.ts';
import type { EmbeddingStore } from '../../core/embedding-store.ts';
import type { Clock } from '../../core/ports.ts';
import type { ServiceLog } from '../service-log.ts';
import type { ModelCatalog } from './model-catalog.ts';

/**
 * Which models a tenant searches and keeps, as this process last saw it. It only saves work: what is kept is decided
 * in the transaction of each write, and what is searched in that of each search.
 */
export interface ModelRoles {
  /** The state, at most a second old; the tenant is made known and the configured models get their roles first. */
  forWriting(tenantId: string): Promise<EmbeddingState>;
  /** What was seen last, however long ago; null where nothing was. */
  lastSeen(tenantId: string): EmbeddingState | null;
  /** Takes in a state that was just read. */
  saw(tenantId: string, state: EmbeddingState): void;
}

export interface ModelRolesParts {
  readonly embeddings: EmbeddingStore;
  readonly catalog: ModelCatalog;
  readonly clock: Clock;
  readonly log: ServiceLog;
}

/** A write that knows an older state leaves a gap, which the background fills. */
const FRESH_MS = 1_000;
/** Tenants whose state is remembered. */
const MAX_REMEMBERED = 10_000;

export function createModelRoles({ embeddings, catalog, clock, log }: ModelRolesParts): ModelRoles {
  const seen = new Map<string, { readonly state: EmbeddingState; readonly at: number }>();
  const adopted = new Map<string, Promise<void>>();

  function saw(tenantId: string, state: EmbeddingState): void {
    seen.delete(tenantId);
    seen.set(tenantId, { state, at: performance.now() });
    const [oldest] = seen.keys();
    if (seen.size > MAX_REMEMBERED && oldest !== undefined) seen.delete(oldest);
  }

  async function adopt(tenantId: string): Promise<void> {
    const models = catalog.configured.models.map((model) => ({
      ...model,
      settings: catalog.settingsOf(model.modelId),
    }));
    // Without models too: it is the tenant's first write, which makes the tenant known.
    const state = await embeddings.adoptModels(tenantId, models, clock());
    saw(tenantId, state);
    sayIfIgnored(tenantId, state);
  }

  /** Who changes the configuration expects something to happen. */
  function sayIfIgnored(tenantId: string, state: EmbeddingState): void {
    const configured = catalog.configured.models[0]?.modelId;
    const active = activeModelOfStore(state)?.modelId;
    if (configured === undefined || active === undefined || active === configured) return;
    log.warn('searches use another embedding model than the configured one until entries are re-embedded', {
      tenant_id: tenantId,
      model_id: active,
      configured_model_id: configured,
    });
  }

  /** Once per tenant and process. What failed is tried again by the next write. */
  function ensureAdopted(tenantId: string): Promise<void> {
    const running =
      adopted.get(tenantId) ??
      adopt(tenantId).catch((error: unknown) => {
        adopted.delete(tenantId);
        throw error;
      });
    adopted.set(tenantId, running);
    return running;
  }

  return {
    async forWriting(tenantId) {
      await ensureAdopted(tenantId);
      const known = seen.get(tenantId);
      if (known !== undefined && performance.now() - known.at < FRESH_MS) return known.state;
      const state = await embeddings.embeddingState(tenantId);
      saw(tenantId, state);
      return state;
    },
    lastSeen: (tenantId) => seen.get(tenantId)?.state ?? null,
    saw,
  };
}
