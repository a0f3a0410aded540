import { openMemoryService } from '../src/app.ts';
import { LOCAL_OPERATOR } from '../src/service/local-operator.ts';
import { readCorpus } from './corpus.ts';
import { round, writeResult } from './measure.ts';
import { recallInTurns, timesAsLong } from './recall-turns.ts';
import { allStores, type BenchStore } from './stores.ts';

/**
 * What it costs that an agent's policy is read in the snapshot of each request: recall for an agent whose policy
 * names the same scope that the other recall names itself.
 */
async function overheadOn({ backend, location }: BenchStore) {
  const { drafts, queries, name } = readCorpus('locomo');
  const memory = await openMemoryService({
    location,
    embedding: { mode: 'local', local: { provider: 'hashing' } },
  });
  const context = { access: LOCAL_OPERATOR };
  for await (const _ of memory.service.importEntries(context, drafts));
  const subject = { kind: 'agent', id: 'bench' } as const;
  await memory.governance.putPolicy(context, subject, { readNamespaces: ['*'], topK: 10 });
  const [withPolicy, without] = await recallInTurns(
    [
      { service: memory.service, context: { ...context, subject: { agentId: 'bench' } } },
      { service: memory.service, context, namespaces: ['*'] },
    ],
    queries,
    () => memory.flush(),
  );
  await memory.close();
  return {
    backend,
    corpus: name,
    entries: drafts.length,
    withPolicyMs: { ...withPolicy, timesWithout: timesAsLong(withPolicy, without) },
    withoutMs: without,
    addedMs: round(withPolicy.p50 - without.p50),
  };
}

export async function run(): Promise<void> {
  const results = [];
  for (const store of await allStores()) {
    try {
      results.push(await overheadOn(store));
    } finally {
      await store.dispose();
    }
  }
  writeResult('policy-overhead', { results });
}
