import { accessContract } from './access-contract.ts';
import type { ContractSuite } from './contract-case.ts';
import { embeddingContract } from './embedding-contract.ts';
import { feedbackContract } from './feedback-contract.ts';
import { governanceContract } from './governance-contract.ts';
import { lifecycleContract } from './lifecycle-contract.ts';
import { listContract } from './list-contract.ts';
import { refusalContract } from './refusal-contract.ts';
import { searchContract } from './search-contract.ts';
import { writeContract } from './write-contract.ts';

export type { ContractCase, ContractContext, ContractSuite } from './contract-case.ts';
export { TEST_MODEL } from './contract-fixtures.ts';

/**
 * What every `Store` must do, for any test runner: call each case's `run` with a store and a tenant of its
 * own, for which `TEST_MODEL` has been registered.
 */
export const storeContract: readonly ContractSuite[] = [
  writeContract,
  lifecycleContract,
  searchContract,
  listContract,
  feedbackContract,
  embeddingContract,
  accessContract,
  governanceContract,
  refusalContract,
];
