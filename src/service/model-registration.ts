import type { EmbeddingModel, Store } from '../core/ports.ts';

/** Makes the models known to a tenant before the first vector is stored under them. */
export interface ModelRegistration {
  ensure(tenantId: string): Promise<void>;
}

/** Registers once per tenant and process. A registration that failed is tried again by the next write. */
export function createModelRegistration(store: Store, models: readonly EmbeddingModel[]): ModelRegistration {
  const registered = new Map<string, Promise<void>>();
  const register = async (tenantId: string) => {
    try {
      for (const { modelId, dimensions } of models) {
        await store.registerModel(tenantId, { modelId, dimensions });
      }
    } catch (error) {
      registered.delete(tenantId);
      throw error;
    }
  };
  return {
    ensure(tenantId) {
      const pending = registered.get(tenantId) ?? register(tenantId);
      registered.set(tenantId, pending);
      return pending;
    },
  };
}
