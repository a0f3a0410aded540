import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Store } from '../../src/core/ports.ts';
import { storeContract, TEST_MODEL } from '../../src/testing/index.ts';
import { openTestStore, type TestStore } from '../helpers/test-store.ts';

let opened: TestStore;
let store: Store;

beforeAll(async () => {
  opened = await openTestStore();
  store = opened.store;
});
afterAll(() => opened.close());

for (const suite of storeContract) {
  describe(suite.subject, () => {
    for (const contractCase of suite.cases) {
      it(contractCase.name, async () => {
        const tenantId = `tenant-${randomUUID()}`;
        await store.registerModel(tenantId, TEST_MODEL);
        const { governance, embeddings } = opened;
        await contractCase.run({ store, governance, embeddings, tenantId });
      });
    }
  });
}
