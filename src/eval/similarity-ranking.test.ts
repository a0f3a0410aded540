import { describe, expect, it } from 'vitest';
import type { EmbeddingProvider, EmbeddingPurpose } from '../core/ports.ts';
import { similarityRanking } from './similarity-ranking.ts';

const VECTORS: Record<string, number[] | null> = {
  east: [1, 0],
  north: [0, 2],
  northeast: [3, 3],
  nothing: null,
};

function compass(calls: [number, EmbeddingPurpose][] = []): EmbeddingProvider {
  return {
    modelId: 'compass',
    dimensions: 2,
    async embed(texts, purpose) {
      calls.push([texts.length, purpose]);
      return texts.map((text) => {
        const vector = VECTORS[text];
        return vector ? Float32Array.from(vector) : null;
      });
    },
  };
}

const entry = (id: string, content: string) => ({ id, namespace: 'n', content, speaker: 'north' });
const ask = (query: string) => ({
  id: 'q',
  namespace: 'n',
  query,
  relevant: new Set<string>(),
  category: null,
});

describe('similarityRanking', () => {
  const entries = [entry('4', 'nothing'), entry('3', 'north'), entry('2', 'northeast'), entry('1', 'east')];

  it('orders by cosine similarity, ties by id, entries without a vector at 0', async () => {
    const rank = await similarityRanking(compass(), entries);
    // To east: east 1, northeast 1/√2, north 0 and nothing 0.
    const ranking = await rank(ask('east'), entries, 10);
    expect(ranking.map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
    expect(ranking.map(({ score }) => score)).toEqual([1, expect.closeTo(Math.SQRT1_2, 6), 0, 0]);
  });

  it('returns no more than depth, and zeros for a query without a vector', async () => {
    const rank = await similarityRanking(compass(), entries);
    expect(await rank(ask('nothing'), entries, 2)).toEqual([
      { id: '1', score: 0 },
      { id: '2', score: 0 },
    ]);
  });

  it('embeds what it is told of an entry', async () => {
    const rank = await similarityRanking(compass(), entries, ({ speaker }) => speaker ?? '');
    expect((await rank(ask('north'), entries, 10)).every(({ score }) => score === 1)).toBe(true);
  });

  it('embeds entries as documents in batches, and queries as queries', async () => {
    const calls: [number, EmbeddingPurpose][] = [];
    const many = Array.from({ length: 130 }, (_, index) => entry(String(index), 'east'));
    const rank = await similarityRanking(compass(calls), many);
    await rank(ask('east'), many, 1);
    expect(calls).toEqual([
      [64, 'document'],
      [64, 'document'],
      [2, 'document'],
      [1, 'query'],
    ]);
  });
});
