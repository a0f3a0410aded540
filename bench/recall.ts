import { openMemoryService } from '../src/app.ts';
import { createEmbeddingProvider } from '../src/embedding/registry.ts';
import { LOCAL_OPERATOR } from '../src/service/local-operator.ts';
import type { SqlDatabase } from '../src/store/sql-database.ts';
import { vectorLiteral } from '../src/store/vector-literal.ts';
import { readCorpus } from './corpus.ts';
import { percentiles, round, timeEach, writeResult } from './measure.ts';
import { allStores, type BenchStore, openDatabase } from './stores.ts';

const SCOPE_SIZE = 6_000;
const QUERIES = 100;
/** Recall over 6,000 entries stays within this many times a bare exact scan of the same rows. */
const LIMIT = 3;

/** Recall over one scope against pgvector's own exact `ORDER BY … LIMIT 10` on the same rows, in one run. */
async function recallAgainstBareScan({ backend, location }: BenchStore) {
  const provider = createEmbeddingProvider({ provider: 'hashing' });
  const { drafts, queries, name } = readCorpus('locomo');
  const scoped = Array.from({ length: SCOPE_SIZE }, (_, index) => {
    const draft = drafts[index % drafts.length] ?? { namespace: 'conversation', content: '' };
    // A second round through the corpus needs texts of its own; importances differ as they do in use.
    const content = index < drafts.length ? draft.content : `${draft.content} (again)`;
    return { ...draft, content, importance: ((index * 37) % 101) / 100 };
  });
  const asked = queries.slice(0, QUERIES);
  const memory = await openMemoryService({ location, embedding: provider });
  const context = { access: LOCAL_OPERATOR };
  for await (const _ of memory.service.importEntries(context, scoped));
  const recall = (profile: string) =>
    timeEach(asked, (query) => memory.service.recall(context, { query, profile, topK: 10 }));
  const boosted = percentiles(await recall('boosted'));
  const weighted = percentiles(await recall('weighted'));
  await memory.close();

  const vectors = await provider.embed(asked, 'query');
  const database = await openDatabase(location);
  const bare = percentiles(
    await timeEach(
      vectors.filter((vector) => vector !== null),
      (vector) => bareScan(database, vector),
    ),
  );
  await database.close();
  return {
    backend,
    corpus: name,
    scopeSize: SCOPE_SIZE,
    bareScanMs: bare,
    boostedMs: { ...boosted, timesBareScan: round(boosted.p50 / bare.p50) },
    weightedMs: { ...weighted, timesBareScan: round(weighted.p50 / bare.p50) },
  };
}

/** As little as a search can be: one statement, no rights, no exclusions, no formula. */
async function bareScan(database: SqlDatabase, vector: Float32Array): Promise<void> {
  const { text, sparse } = vectorLiteral(vector);
  const cast = sparse ? '::sparsevec::vector' : '::vector';
  await database.transaction((tx) =>
    tx.query({
      text: `SELECT memory_id FROM app.memory_embeddings ORDER BY embedding <=> $1${cast} LIMIT 10`,
      values: [text],
    }),
  );
}

export async function run(): Promise<void> {
  const results = [];
  for (const store of await allStores()) {
    try {
      results.push(await recallAgainstBareScan(store));
    } finally {
      await store.dispose();
    }
  }
  writeResult('recall', { limit: { boostedTimesBareScan: LIMIT }, results });
}
