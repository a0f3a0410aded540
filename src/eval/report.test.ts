import { describe, expect, it } from 'vitest';
import type { Dataset } from './dataset.ts';
import { markdownTable, reportRun } from './report.ts';

const entry = (id: string) => ({ id, namespace: 'n', content: id, speaker: null });
const query = (id: string, relevant: string[], category: string | null) => ({
  id,
  namespace: 'n',
  query: id,
  relevant: new Set(relevant),
  category,
});

const dataset: Dataset = {
  entries: [entry('a'), entry('b')],
  queries: [
    query('q0', ['a'], 'easy'),
    query('q1', ['b'], 'hard'),
    query('q2', [], 'hard'),
    query('q3', ['b'], null),
  ],
};
// q0 finds a at place 1; q1 finds b at place 2; q2 has nothing to find; q3 finds nothing.
const run = new Map([
  ['q0', [{ id: 'a', score: 0.4 }]],
  [
    'q1',
    [
      { id: 'a', score: 0.9 },
      { id: 'b', score: 0.39 },
    ],
  ],
  ['q2', [{ id: 'a', score: 0.1 }]],
  ['q3', []],
]);

describe('reportRun', () => {
  const report = reportRun(dataset, run, 0.4);

  it('averages over the queries that have something to find', () => {
    expect(report).toMatchObject({ entries: 2, queries: 4, all: { scoredQueries: 3 } });
    // Recall@1: 1, 0, 0. Recall@5: 1, 1, 0. MRR: 1, 1/2, 0.
    expect(report.all.measures['recall@1']).toBeCloseTo(1 / 3, 12);
    expect(report.all.measures['recall@5']).toBeCloseTo(2 / 3, 12);
    expect(report.all.measures['mrr@100']).toBeCloseTo(0.5, 12);
  });

  it('counts the queries whose relevant entry reaches the floor, the floor included', () => {
    // q0 at 0.4 does; q1's 0.9 is not relevant and its 0.39 is too low; q3 has none.
    expect(report.all.relevantAboveFloor).toBeCloseTo(1 / 3, 12);
  });

  it('splits by every second query of the file, scored or not', () => {
    // Even: q0 and q2 (not scored). Odd: q1 and q3.
    expect(report.evenQueries).toMatchObject({ scoredQueries: 1, measures: { 'recall@5': 1 } });
    expect(report.oddQueries).toMatchObject({ scoredQueries: 2, measures: { 'recall@5': 0.5 } });
  });

  it('splits by category', () => {
    expect(Object.keys(report.byCategory)).toEqual(['easy', 'hard', 'none']);
    expect(report.byCategory.hard).toMatchObject({ scoredQueries: 1, measures: { 'mrr@100': 0.5 } });
  });

  it('refuses a run that lacks a query, which would count as a miss', () => {
    expect(() => reportRun(dataset, new Map([...run].slice(1)), 0.4)).toThrow(/no ranking of query q0/);
  });

  it('has no measures where nothing can be scored', () => {
    const unscored = { ...dataset, queries: dataset.queries.slice(2, 3) };
    expect(reportRun(unscored, run, 0.4).all).toEqual({
      scoredQueries: 0,
      measures: {},
      relevantAboveFloor: 0,
    });
  });
});

describe('markdownTable', () => {
  it('has a row for all, for each half and for each scored category', () => {
    const lines = markdownTable(reportRun(dataset, run, 0.4)).split('\n');
    expect(lines[0]).toBe(
      '| queries | scored | recall@1 | recall@5 | recall@10 | hit_rate@5 | mrr@100 | ndcg@10 | above floor |',
    );
    // nDCG of q1 is 1 / log2(3) = 0.631; the mean of 1, 0.631 and 0 is 0.544.
    expect(lines[2]).toBe('| all | 3 | 0.333 | 0.667 | 0.667 | 0.667 | 0.500 | 0.544 | 0.333 |');
    expect(lines.slice(3).map((line) => line.split(' | ')[0])).toEqual([
      '| even queries',
      '| odd queries',
      '| easy',
      '| hard',
      '| none',
    ]);
  });
});
