import { describe, expect, it } from 'vitest';
import type { Dataset } from './dataset.ts';
import { type RankFunction, rankQueries } from './run.ts';

const entry = (id: string, namespace: string) => ({ id, namespace, content: id, speaker: null });
const query = (id: string, namespace: string) => ({
  id,
  namespace,
  query: id,
  relevant: new Set<string>(),
  category: null,
});

const dataset: Dataset = {
  entries: [entry('a1', 'a'), entry('b1', 'b'), entry('a2', 'a')],
  queries: [query('qa', 'a'), query('qb', 'b'), query('qc', 'empty')],
};

const inGivenOrder: RankFunction = async (_, entries) =>
  entries.map(({ id }, index) => ({ id, score: -index }));
const ids = (run: Awaited<ReturnType<typeof rankQueries>>) =>
  [...run].map(([id, ranking]) => [id, ranking.map((place) => place.id)]);

describe('rankQueries', () => {
  it('gives the ranking function the entries of the query’s namespace only', async () => {
    expect(ids(await rankQueries(dataset, inGivenOrder))).toEqual([
      ['qa', ['a1', 'a2']],
      ['qb', ['b1']],
      ['qc', []],
    ]);
  });

  it('keeps no more than depth', async () => {
    expect(ids(await rankQueries(dataset, inGivenOrder, { depth: 1 }))[0]).toEqual(['qa', ['a1']]);
  });

  it.each([
    ['twice', ['a1', 'a1']],
    ['from another namespace', ['b1']],
  ])('refuses a ranking that names an id %s', async (_, answer) => {
    const rank: RankFunction = async () => answer.map((id) => ({ id, score: 1 }));
    await expect(rankQueries(dataset, rank)).rejects.toThrow(RangeError);
  });
});
