import type { EmbeddingProvider, Store } from '../core/ports.ts';

/** Makes the provider's model known to a tenant before the first vector is stored under it. */
export interface ModelRegistration {
  ensure(tenantId: string): Promise<void>;
}

/** Registers once per tenant and process. A registration that failed is tried again by the next write. */
export function createModelRegistration(store: Store, provider: EmbeddingProvider): ModelRegistration {
  const registered = new Map<string, Promise<void>>();
  const register = (tenantId: string) =>
    store
      .registerModel(tenantId, { modelId: provider.modelId, dimensions: provider.dimensions })
      .catch((error: unknown) => {
        registered.delete(tenantId);
        throw error;
      });
  return {
    ensure(tenantId) {
      const pending = registered.get(tenantId) ?? register(tenantId);
      registered.set(tenantId, pending);
      return pending;
    },
  };
}
