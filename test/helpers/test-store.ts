import type { EmbeddingStore } from '../../src/core/embedding-store.ts';
import type { GovernanceStore } from '../../src/core/governance.ts';
import type { Store } from '../../src/core/ports.ts';
import { type OpenStoreOptions, openStore, type StoreLocation } from '../../src/store/open-store.ts';
import { BACKEND, createDatabase } from './test-database.ts';

/** An empty store of the suite's backend, and how to get rid of it. */
export interface TestStore {
  readonly store: Store;
  readonly governance: GovernanceStore;
  readonly embeddings: EmbeddingStore;
  /** Opens the same data a second time where the backend allows it. */
  readonly location: StoreLocation;
  close(): Promise<void>;
}

export async function openTestStore(options: OpenStoreOptions = {}): Promise<TestStore> {
  const { location, drop } = await testLocation();
  const { store, governance, embeddings } = await openStore(location, options);
  return {
    store,
    governance,
    embeddings,
    location,
    close: async () => {
      await store.close();
      await drop();
    },
  };
}

/** An empty place of the suite's backend: a database of its own, or memory. */
export async function testLocation(): Promise<{ location: StoreLocation; drop(): Promise<void> }> {
  if (BACKEND === 'pglite') return { location: { inMemory: true }, drop: async () => {} };
  const database = await createDatabase();
  return { location: { databaseUrl: database.url }, drop: () => database.drop() };
}
