import { isDeepStrictEqual } from 'node:util';
import { openMemoryService } from '../src/app.ts';
import type { ContextRequest } from '../src/service/fill-context.ts';
import { LOCAL_OPERATOR } from '../src/service/local-operator.ts';
import type { MemoryService } from '../src/service/memory-service.ts';
import { readCorpus } from './corpus.ts';
import { percentiles, round, writeResult } from './measure.ts';
import { allStores, type BenchStore } from './stores.ts';

const CANDIDATES = 1_000;
const CALLS = 200;
const CONTEXT = { access: LOCAL_OPERATOR };

/** Two hundred memory blocks of a thousand candidates each, one after another and all at once: the same blocks. */
async function contextsOn({ backend, location }: BenchStore) {
  const { drafts, queries, name } = readCorpus('locomo');
  const { service, close } = await openMemoryService({ location, embedding: {} });
  try {
    const candidates = drafts.slice(0, CANDIDATES).map((draft) => ({ ...draft, namespace: 'bench.context' }));
    for await (const _ of service.importEntries(CONTEXT, candidates));
    // Nothing is below a line, so that the budget alone decides what is in a block.
    const requests = Array.from(
      { length: CALLS },
      (_, index): ContextRequest => ({
        query: queries[index % queries.length] ?? '',
        topK: 50,
        minScore: 0,
        relativeCutoff: 0,
        tokenBudget: 500 + (index % 10) * 100,
      }),
    );
    for (const request of requests.slice(0, 5)) await blockOf(service, request);

    const times: number[] = [];
    const sequential: Block[] = [];
    for (const request of requests) {
      const begin = performance.now();
      sequential.push(await blockOf(service, request));
      times.push(performance.now() - begin);
    }
    const begin = performance.now();
    const concurrent = await Promise.all(requests.map((request) => blockOf(service, request)));
    const together = performance.now() - begin;
    const oneByOne = times.reduce((sum, time) => sum + time, 0);
    return {
      backend,
      corpus: name,
      candidates: candidates.length,
      calls: CALLS,
      sequentialMs: { ...percentiles(times), all: round(oneByOne) },
      concurrentMs: { all: round(together), timesSequential: round(together / oneByOne) },
      withinBudget: concurrent.filter(({ tokenCount, tokenBudget }) => tokenCount <= tokenBudget).length,
      equal: concurrent.filter((block, index) => isDeepStrictEqual(block, sequential[index])).length,
      truncated: concurrent.filter(({ truncated }) => truncated).length,
    };
  } finally {
    await close();
  }
}

type Block = Awaited<ReturnType<typeof blockOf>>;

async function blockOf(service: MemoryService, request: ContextRequest) {
  const { text, tokenCount, tokenBudget, truncated } = await service.context(CONTEXT, request);
  return { text, tokenCount, tokenBudget, truncated };
}

export async function run(): Promise<void> {
  const results = [];
  for (const store of await allStores()) {
    try {
      results.push(await contextsOn(store));
    } finally {
      await store.dispose();
    }
  }
  writeResult('context', { results });
}
