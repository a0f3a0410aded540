import type { EmbeddingProvider, EmbeddingPurpose } from '../../src/core/ports.ts';

/** What a search has to find, worked out by a loop over all vectors. */
export interface Reference {
  readonly modelId: string;
  /** The nearest texts of a namespace, the nearest first, with their similarity; equal texts once. */
  nearest(query: string, namespace: string, count: number): readonly Neighbour[];
  similarity(query: string, content: string): number;
}

export interface Neighbour {
  readonly content: string;
  readonly similarity: number;
}

export interface ReferenceText {
  readonly namespace: string;
  readonly content: string;
}

/** Vectors of texts under one model; null where the model found nothing to embed. */
export type Vectors = ReadonlyMap<string, Float32Array | null>;

/**
 * @param documents - Vectors of every text, by content.
 * @param queries - Vectors of every query that will be asked.
 */
export function exactReference(
  modelId: string,
  texts: readonly ReferenceText[],
  documents: Vectors,
  queries: Vectors,
): Reference {
  const byNamespace = Map.groupBy(texts, ({ namespace }) => namespace);
  const similarity = (query: string, content: string) =>
    cosine(queries.get(query) ?? null, documents.get(content) ?? null);
  return {
    modelId,
    similarity,
    nearest(query, namespace, count) {
      const contents = new Set((byNamespace.get(namespace) ?? []).map(({ content }) => content));
      return [...contents]
        .map((content) => ({ content, similarity: similarity(query, content) }))
        .sort((a, b) => b.similarity - a.similarity)
        .slice(0, count);
    },
  };
}

/** Makes vectors now, outside of any store. */
export async function freshVectors(
  provider: EmbeddingProvider,
  texts: readonly string[],
  purpose: EmbeddingPurpose,
): Promise<Vectors> {
  const distinct = [...new Set(texts)];
  const vectors = await provider.embed(distinct, purpose);
  return new Map(distinct.map((text, place) => [text, vectors[place] ?? null]));
}

/** In float64, negative values as 0, as SPEC has it. */
export function cosine(a: Float32Array | null, b: Float32Array | null): number {
  if (a === null || b === null) return 0;
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let place = 0; place < a.length; place += 1) {
    const left = a[place] ?? 0;
    const right = b[place] ?? 0;
    dot += left * right;
    squaresA += left * left;
    squaresB += right * right;
  }
  return Math.max(0, dot / Math.sqrt(squaresA * squaresB));
}
