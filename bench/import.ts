import { openMemoryService } from '../src/app.ts';
import { createEmbeddingProvider } from '../src/embedding/registry.ts';
import { LOCAL_OPERATOR } from '../src/service/local-operator.ts';
import { readCorpus } from './corpus.ts';
import { round, writeResult } from './measure.ts';
import { allStores, type BenchStore } from './stores.ts';

/** Limits of the product: entries stored a second, hashing included. */
const LIMITS = { pglite: 1_500, postgres: 4_000 } as const;

/** How many entries a second an import stores, with everything an import does. */
async function importSpeed({ backend, location }: BenchStore, name: string) {
  const { drafts } = readCorpus(name);
  const memory = await openMemoryService({
    location,
    embedding: createEmbeddingProvider({ provider: 'hashing' }),
  });
  try {
    const start = performance.now();
    let stored = 0;
    for await (const progress of memory.service.importEntries({ access: LOCAL_OPERATOR }, drafts)) {
      stored = progress.stored;
    }
    const perSecond = (stored * 1000) / (performance.now() - start);
    return {
      backend,
      entries: stored,
      entriesPerSecond: Math.round(perSecond),
      timesTheLimit: round(perSecond / LIMITS[backend]),
    };
  } finally {
    await memory.close();
  }
}

export async function run(): Promise<void> {
  const results = [];
  for (const name of ['beam-100k', 'locomo']) {
    for (const store of await allStores()) {
      try {
        results.push({ corpus: readCorpus(name).name, ...(await importSpeed(store, name)) });
      } finally {
        await store.dispose();
      }
    }
  }
  writeResult('import', { limits: LIMITS, results });
}
