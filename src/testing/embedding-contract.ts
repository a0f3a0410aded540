import assert from 'node:assert/strict';
import type { ClaimedEntry, EmbeddingStore, NewJob, SettledEntry } from '../core/embedding-store.ts';
import type { ContractContext, ContractSuite } from './contract-case.ts';
import {
  at,
  MINUTE,
  NOON,
  operator,
  prepared,
  rejectsWith,
  TEST_MODEL,
  user,
  writeOne,
} from './contract-fixtures.ts';

/** The model that is changed to. */
const NEXT = { modelId: 'contract-next', dimensions: 3, settings: null };
const CHANGE: NewJob = {
  kind: 'change',
  scope: '*',
  modelId: NEXT.modelId,
  switchesItself: false,
  purgesOld: false,
};
const LEASE_MS = 60_000;
const NOTHING_ACCEPTED = { refused: false, waiting: false };

/** A tenant whose searches use the contract's model, with entries, and a job that changes it. */
async function startedChange({ store, embeddings, tenantId }: ContractContext, contents: readonly string[]) {
  const access = operator(tenantId);
  await embeddings.adoptModels(tenantId, [{ ...TEST_MODEL, role: 'primary', settings: null }], NOON);
  const entries = [];
  for (const content of contents) {
    entries.push(await writeOne(store, access, { namespace: 'a.b', content }));
  }
  await embeddings.registerModel(tenantId, NEXT);
  const job = await embeddings.startJob(access, CHANGE, at(NOON));
  return { access, entries, job };
}

async function scanAll(embeddings: EmbeddingStore, tenantId: string): Promise<void> {
  while (await embeddings.scanNext(tenantId, NEXT.modelId, 2));
}

function claim(embeddings: EmbeddingStore, tenantId: string, id: string, leaseMs = LEASE_MS, limit = 100) {
  return embeddings.claimEntries(tenantId, NEXT.modelId, { id, limit, leaseMs });
}

function embedded({ memoryId, namespace, contentHash }: ClaimedEntry): SettledEntry {
  const embedding = { modelId: NEXT.modelId, vector: Float32Array.of(1, 0, 0) };
  return { memoryId, namespace, contentHash, outcome: { embedding } };
}

function claimId(number: number): string {
  return `01900000-0000-7000-8000-${String(number).padStart(12, '0')}`;
}

async function rolesOf(embeddings: EmbeddingStore, tenantId: string): Promise<string[]> {
  const { assignments } = await embeddings.embeddingState(tenantId);
  return assignments.map(({ role, scope, model }) => `${role} ${scope} ${model.modelId}`).toSorted();
}

/** SPEC section 10: each vector is kept under its model, and searches switch when every entry has the new one. */
export const embeddingContract: ContractSuite = {
  subject: 'embedding models',
  cases: [
    {
      name: 'the first model is active for a tenant without entries, and another configuration does not replace it',
      async run({ embeddings, tenantId }) {
        await embeddings.adoptModels(tenantId, [{ ...TEST_MODEL, role: 'primary', settings: null }], NOON);
        assert.deepEqual(await rolesOf(embeddings, tenantId), [`active * ${TEST_MODEL.modelId}`]);
        await embeddings.adoptModels(tenantId, [{ ...NEXT, role: 'primary' }], NOON);
        assert.deepEqual(await rolesOf(embeddings, tenantId), [`active * ${TEST_MODEL.modelId}`]);
        await rejectsWith('conflict', embeddings.registerModel(tenantId, { ...NEXT, dimensions: 4 }));
      },
    },
    {
      name: 'a change is complete when every entry was embedded, and only then searches switch (CASES D8)',
      async run(context) {
        const { embeddings, tenantId } = context;
        const { access, job } = await startedChange(context, ['one', 'two', 'three', 'four', 'five']);
        assert.deepEqual(await rolesOf(embeddings, tenantId), [
          `active * ${TEST_MODEL.modelId}`,
          `target * ${NEXT.modelId}`,
        ]);
        await scanAll(embeddings, tenantId);
        assert.deepEqual((await embeddings.jobProgress(tenantId, job.id)).settled, 0);
        const claimed = await claim(embeddings, tenantId, claimId(1), LEASE_MS, 3);
        assert.equal(claimed.length, 3);
        const settled = claimed.map(embedded);
        assert.equal(await embeddings.settleEntries(tenantId, NEXT.modelId, claimId(1), settled), 3);
        await rejectsWith(
          'conflict',
          embeddings.finishJob(access, job.id, NOTHING_ACCEPTED, at(NOON + MINUTE)),
        );
        const rest = (await claim(embeddings, tenantId, claimId(2))).map(embedded);
        assert.equal(await embeddings.settleEntries(tenantId, NEXT.modelId, claimId(2), rest), 2);
        assert.deepEqual(await embeddings.coverage(tenantId, job.id), {
          entries: 5,
          vectors: 5,
          waiting: 0,
          empty: 0,
          refused: 0,
          unseen: 0,
        });
        const done = await embeddings.finishJob(access, job.id, NOTHING_ACCEPTED, at(NOON + MINUTE));
        assert.equal(done.status, 'done');
        assert.equal(done.previousModel?.modelId, TEST_MODEL.modelId);
        assert.deepEqual(await rolesOf(embeddings, tenantId), [`active * ${NEXT.modelId}`]);
      },
    },
    {
      name: 'what is ahead of the scan counts as settled where it has a vector, once as missing where it has a gap',
      async run(context) {
        const { store, embeddings, tenantId } = context;
        const { access, job } = await startedChange(context, ['one', 'two']);
        const written = await writeOne(store, access, { namespace: 'a.b', content: 'with a gap' });
        const progress = async () => {
          const { entries, settled } = await embeddings.jobProgress(tenantId, job.id);
          return [entries, settled];
        };
        assert.deepEqual(await progress(), [3, 0]);
        // The write left a gap under the new model, which is worked off before anything is scanned.
        const claimed = await claim(embeddings, tenantId, claimId(1));
        assert.deepEqual(
          claimed.map(({ memoryId }) => memoryId),
          [written.id],
        );
        await embeddings.settleEntries(tenantId, NEXT.modelId, claimId(1), claimed.map(embedded));
        assert.deepEqual(await progress(), [3, 1]);
        await writeOne(store, access, { namespace: 'a.b', content: 'with another gap' });
        assert.deepEqual(await progress(), [4, 1]);
        await scanAll(embeddings, tenantId);
        assert.deepEqual(await progress(), [4, 1]);
      },
    },
    {
      name: 'a job that has not looked at every entry is not finished, whatever is accepted',
      async run(context) {
        const { embeddings, tenantId } = context;
        const { access, job } = await startedChange(context, ['one']);
        const everything = { refused: true, waiting: true };
        await rejectsWith('conflict', embeddings.finishJob(access, job.id, everything, at(NOON)));
        await scanAll(embeddings, tenantId);
        assert.equal((await embeddings.finishJob(access, job.id, everything, at(NOON))).status, 'done');
      },
    },
    {
      name: 'an entry is claimed by one at a time, until it is given back or the lease ends',
      async run(context) {
        const { embeddings, tenantId } = context;
        await startedChange(context, ['one', 'two']);
        await scanAll(embeddings, tenantId);
        assert.equal((await claim(embeddings, tenantId, claimId(1))).length, 2);
        assert.deepEqual(await claim(embeddings, tenantId, claimId(2)), []);
        await embeddings.releaseClaim(tenantId, NEXT.modelId, claimId(1));
        assert.equal((await claim(embeddings, tenantId, claimId(3), 0)).length, 2);
        const taken = await claim(embeddings, tenantId, claimId(4));
        assert.equal(taken.length, 2, 'a lease of nothing has ended');
        const late = taken.map(embedded);
        await embeddings.settleEntries(tenantId, NEXT.modelId, claimId(3), late);
        assert.equal(await embeddings.settleEntries(tenantId, NEXT.modelId, claimId(4), late), 2);
      },
    },
    {
      name: 'a vector of a text that has changed meanwhile is not kept',
      async run(context) {
        const { store, embeddings, tenantId } = context;
        const { access, entries, job } = await startedChange(context, ['before']);
        await scanAll(embeddings, tenantId);
        const claimed = await claim(embeddings, tenantId, claimId(1));
        const { contentHash, embeddings: vectors } = prepared({ namespace: 'a.b', content: 'after' });
        const patch = { patch: { content: 'after' }, contentHash, embeddings: vectors };
        await store.update(access, entries[0]?.id ?? '', patch, at(NOON + MINUTE));
        await embeddings.settleEntries(tenantId, NEXT.modelId, claimId(1), claimed.map(embedded));
        const { vectors: kept, waiting } = await embeddings.coverage(tenantId, job.id);
        assert.deepEqual([kept, waiting], [0, 1]);
        await embeddings.releaseClaim(tenantId, NEXT.modelId, claimId(1));
        const again = await claim(embeddings, tenantId, claimId(2));
        assert.deepEqual(
          again.map(({ document }) => document.content),
          ['after'],
        );
      },
    },
    {
      name: 'what the model refuses is counted, tried again when asked, and keeps the switch until it is accepted',
      async run(context) {
        const { embeddings, tenantId } = context;
        const { access, job } = await startedChange(context, ['good', 'bad', 'empty']);
        await scanAll(embeddings, tenantId);
        const settle = async (id: string) => {
          const claimed = await claim(embeddings, tenantId, id);
          const outcomes = claimed.map((entry): SettledEntry => {
            const { content } = entry.document;
            if (content === 'bad') return { ...entry, outcome: { refusal: 'too strange' } };
            if (content !== 'empty') return embedded(entry);
            return { ...entry, outcome: { embedding: { modelId: NEXT.modelId, vector: null } } };
          });
          return embeddings.settleEntries(tenantId, NEXT.modelId, id, outcomes);
        };
        assert.equal(await settle(claimId(1)), 3);
        const counts = { entries: 3, vectors: 1, waiting: 0, empty: 1, refused: 1, unseen: 0 };
        assert.deepEqual(await embeddings.coverage(tenantId, job.id), counts);
        await rejectsWith('conflict', embeddings.finishJob(access, job.id, NOTHING_ACCEPTED, at(NOON)));
        assert.equal(await embeddings.retryRefused(access, job.id, at(NOON)), 1);
        assert.equal(await settle(claimId(2)), 1);
        const accepted = { refused: true, waiting: false };
        assert.equal((await embeddings.finishJob(access, job.id, accepted, at(NOON))).status, 'done');
      },
    },
    {
      name: 'a paused job gives out no work, and a job that is given up leaves searches as they are',
      async run(context) {
        const { embeddings, tenantId } = context;
        const { access, job } = await startedChange(context, ['one']);
        await scanAll(embeddings, tenantId);
        assert.equal((await embeddings.pauseJob(access, job.id, at(NOON))).status, 'paused');
        assert.deepEqual(await claim(embeddings, tenantId, claimId(1)), []);
        assert.equal((await embeddings.resumeJob(access, job.id, at(NOON))).status, 'running');
        const entries = (await claim(embeddings, tenantId, claimId(2))).map(embedded);
        await embeddings.settleEntries(tenantId, NEXT.modelId, claimId(2), entries);
        assert.deepEqual(await embeddings.unusedVectors(tenantId), []);
        assert.equal((await embeddings.cancelJob(access, job.id, at(NOON))).status, 'cancelled');
        assert.deepEqual(await rolesOf(embeddings, tenantId), [`active * ${TEST_MODEL.modelId}`]);
        assert.deepEqual(await embeddings.unusedVectors(tenantId), [{ modelId: NEXT.modelId, count: 1 }]);
        assert.equal(await embeddings.purgeUnused(tenantId, 10), 1);
        assert.equal(await embeddings.purgeUnused(tenantId, 10), 0, 'vectors in use stay');
        await rejectsWith('conflict', embeddings.resumeJob(access, job.id, at(NOON)));
      },
    },
    {
      name: 'a model that asks to be left alone for years is asked again after five minutes',
      async run(context) {
        const { embeddings, tenantId } = context;
        const { job } = await startedChange(context, ['one']);
        await scanAll(embeddings, tenantId);
        const before = Date.now();
        await embeddings.deferModel(tenantId, NEXT.modelId, { message: 'Not now.', afterMs: 1e24 });
        const { outage } = await embeddings.jobProgress(tenantId, job.id);
        assert.equal(outage?.failures, 1);
        const waitMs = (outage.retryAt?.getTime() ?? 0) - before;
        // The database's clock is this machine's, or near it.
        assert.ok(waitMs > 4 * MINUTE && waitMs < 30 * MINUTE, `waits ${waitMs} ms`);
        assert.deepEqual(await claim(embeddings, tenantId, claimId(1)), []);
      },
    },
    {
      name: 'two starts of one change share its job; another one has to wait',
      async run(context) {
        const { embeddings } = context;
        const { access, job } = await startedChange(context, ['one']);
        assert.equal((await embeddings.startJob(access, CHANGE, at(NOON))).id, job.id);
        await rejectsWith('conflict', embeddings.startJob(access, { ...CHANGE, scope: 'a.*' }, at(NOON)));
      },
    },
    {
      name: 'nothing of it is seen or touched from another tenant',
      async run(context) {
        const { embeddings, tenantId } = context;
        const { job } = await startedChange(context, ['one']);
        const other = `${tenantId}-other`;
        const stranger = user(other, 'root', { isAdmin: true });
        assert.deepEqual(await embeddings.listJobs(other), []);
        await rejectsWith('not_found', embeddings.cancelJob(stranger, job.id, at(NOON)));
        await rejectsWith('not_found', embeddings.jobProgress(other, job.id));
        assert.deepEqual(await claim(embeddings, other, claimId(1)), []);
        assert.deepEqual((await embeddings.embeddingState(other)).assignments, []);
      },
    },
  ],
};
