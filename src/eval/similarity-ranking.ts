import type { EmbeddingProvider } from '../core/ports.ts';
import { cosineSimilarity } from '../core/scoring/similarity.ts';
import { compareCodeUnits } from '../core/text-order.ts';
import type { EvaluationEntry } from './dataset.ts';
import type { RankFunction } from './run.ts';

/** Texts given to the provider in one call. */
const BATCH_SIZE = 64;

/**
 * Ranks by cosine similarity alone, as a provider's quality is measured: no rules, recency or threshold. Ties
 * go by id. Embeds all entries first.
 *
 * @param textOf What of an entry is embedded. Default: its content.
 */
export async function similarityRanking(
  provider: EmbeddingProvider,
  entries: readonly EvaluationEntry[],
  textOf: (entry: EvaluationEntry) => string = ({ content }) => content,
): Promise<RankFunction> {
  const vectors = new Map<string, Float32Array | null>();
  for (let start = 0; start < entries.length; start += BATCH_SIZE) {
    const batch = entries.slice(start, start + BATCH_SIZE);
    const batchVectors = await provider.embed(batch.map(textOf), 'document');
    batch.forEach(({ id }, index) => {
      vectors.set(id, batchVectors[index] ?? null);
    });
  }
  return async (query, candidates, depth) => {
    const [asked] = await provider.embed([query.query], 'query');
    return candidates
      .map(({ id }) => ({ id, score: similarity(asked ?? null, vectors.get(id) ?? null) }))
      .sort((a, b) => b.score - a.score || compareCodeUnits(a.id, b.id))
      .slice(0, depth);
  };
}

function similarity(a: Float32Array | null, b: Float32Array | null): number {
  return a === null || b === null ? 0 : cosineSimilarity(a, b);
}
