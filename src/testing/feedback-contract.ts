import assert from 'node:assert/strict';
import type { FeedbackSignal } from '../core/ports.ts';
import type { ContractSuite } from './contract-case.ts';
import {
  at,
  candidatesOf,
  MINUTE,
  NOON,
  operator,
  readOne,
  rejectsWith,
  user,
  writeOne,
} from './contract-fixtures.ts';

function traceId(number: number): string {
  return `01900000-0000-7000-8000-${String(number).padStart(12, '0')}`;
}

/** SPEC section 7: counters move by explicit signals alone, each once per (trace, entry, signal). */
export const feedbackContract: ContractSuite = {
  subject: 'feedback',
  cases: [
    {
      name: 'accessed counts one access, useful counts on both, the others count nothing',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        const counts = async (signal: FeedbackSignal, trace: number) => {
          const feedback = { memoryId: entry.id, signal, traceId: traceId(trace) };
          const result = await store.feedback(access, feedback, at(NOON + MINUTE));
          return [result.recorded, result.entry.accessCount, result.entry.validatedAccessCount];
        };
        assert.deepEqual(await counts('accessed', 1), [true, 1, 0]);
        assert.deepEqual(await counts('useful', 1), [true, 2, 1]);
        assert.deepEqual(await counts('not_useful', 1), [true, 2, 1]);
        assert.deepEqual(await counts('wrong', 1), [true, 2, 1]);
        assert.deepEqual(await counts('useful', 1), [false, 2, 1], 'the same signal of the same trace');
        assert.deepEqual(await counts('useful', 2), [true, 3, 2]);
        const after = await readOne(store, access, entry.id);
        assert.deepEqual(after?.updatedAt, entry.updatedAt, 'feedback does not make an entry younger');
      },
    },
    {
      name: 'twenty parallel signals of different traces all count (CASES F2)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            store.feedback(
              access,
              { memoryId: entry.id, signal: 'useful', traceId: traceId(index) },
              at(NOON),
            ),
          ),
        );
        const after = await readOne(store, access, entry.id);
        assert.deepEqual([after?.accessCount, after?.validatedAccessCount], [20, 20]);
      },
    },
    {
      name: 'twenty parallel signals of one trace count once',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        const entry = await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        const results = await Promise.all(
          Array.from({ length: 20 }, () =>
            store.feedback(access, { memoryId: entry.id, signal: 'useful', traceId: traceId(7) }, at(NOON)),
          ),
        );
        assert.equal(results.filter(({ recorded }) => recorded).length, 1);
        assert.equal((await readOne(store, access, entry.id))?.validatedAccessCount, 1);
      },
    },
    {
      name: 'whoever may read an entry may say whether it helped; a foreign one is unknown',
      async run({ store, tenantId }) {
        const shared = await writeOne(store, operator(tenantId), {
          namespace: 'vector.global.facts',
          content: 'x',
        });
        const own = await writeOne(store, operator(tenantId), {
          namespace: 'vector.user.alice.n',
          content: 'x',
        });
        const bob = user(tenantId, 'bob');
        const signal = (memoryId: string) =>
          store.feedback(bob, { memoryId, signal: 'useful', traceId: traceId(1) }, at(NOON));
        assert.equal((await signal(shared.id)).entry.accessCount, 1);
        await rejectsWith('not_found', signal(own.id));
        await rejectsWith('not_found', signal('nonsense'));
        await rejectsWith('forbidden', store.update(bob, shared.id, { patch: { importance: 1 } }, at(NOON)));
      },
    },
    {
      name: 'searching a hundred times changes nothing, byte for byte (CASES C12)',
      async run({ store, tenantId }) {
        const access = operator(tenantId);
        await writeOne(store, access, { namespace: 'a.b', content: 'x' });
        await writeOne(store, access, { namespace: 'a.b', content: 'y' }, { vector: [0.6, 0.8, 0, 0] });
        const state = async () =>
          JSON.stringify([
            await candidatesOf(store, access, { namespaces: ['a.b'] }),
            await store.read(access, (view) => view.namespaces(null)),
          ]);
        const before = await state();
        for (let round = 0; round < 100; round += 1)
          await candidatesOf(store, access, { namespaces: ['a.b'] });
        assert.equal(await state(), before);
      },
    },
  ],
};
