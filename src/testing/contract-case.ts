import type { EmbeddingStore } from '../core/embedding-store.ts';
import type { GovernanceStore } from '../core/governance.ts';
import type { Store } from '../core/ports.ts';

/** One thing every store must do. Runs on a store of its own tenant; rejects when the store does not. */
export interface ContractCase {
  readonly name: string;
  run(context: ContractContext): Promise<void>;
}

/** What a case works with. */
export interface ContractContext {
  readonly store: Store;
  readonly governance: GovernanceStore;
  readonly embeddings: EmbeddingStore;
  /** A tenant no other case has touched. */
  readonly tenantId: string;
}

/** Cases about one subject. */
export interface ContractSuite {
  readonly subject: string;
  readonly cases: readonly ContractCase[];
}
