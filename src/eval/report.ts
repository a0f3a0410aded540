import { compareCodeUnits } from '../core/text-order.ts';
import type { Dataset, EvaluationQuery } from './dataset.ts';
import { hitRateAtK, type Measure, mrrAtK, ndcgAtK, precisionAtK, recallAtK } from './metrics.ts';
import type { RankedId, Run } from './run.ts';

/** What is measured of every run, by the name shown. MRR@100 stands for MRR: BEIR's depth. */
const MEASURES: readonly { readonly name: string; readonly measure: Measure; readonly k: number }[] = [
  { name: 'recall@1', measure: recallAtK, k: 1 },
  { name: 'recall@5', measure: recallAtK, k: 5 },
  { name: 'recall@10', measure: recallAtK, k: 10 },
  { name: 'recall@100', measure: recallAtK, k: 100 },
  { name: 'hit_rate@1', measure: hitRateAtK, k: 1 },
  { name: 'hit_rate@5', measure: hitRateAtK, k: 5 },
  { name: 'hit_rate@10', measure: hitRateAtK, k: 10 },
  { name: 'precision@5', measure: precisionAtK, k: 5 },
  { name: 'mrr@100', measure: mrrAtK, k: 100 },
  { name: 'ndcg@10', measure: ndcgAtK, k: 10 },
];

/** Means over the scored queries, by name of the measure. */
export type Measures = Readonly<Record<string, number>>;

export interface MeasuredQueries {
  /** Queries with at least one relevant entry; the others are in no mean. */
  readonly scoredQueries: number;
  /** Empty where no query could be scored. */
  readonly measures: Measures;
  /**
   * Share of the scored queries of which a relevant entry is ranked with a similarity of at least 0.4, the floor of the
   * `boosted` profile without rules and recency: what its users see of the recall above.
   */
  readonly relevantAboveFloor: number;
}

/** How one run did. */
export interface Report {
  readonly entries: number;
  readonly queries: number;
  readonly all: MeasuredQueries;
  /** The same for every second query of the file, from the first on: the half that choices may be made on. */
  readonly evenQueries: MeasuredQueries;
  /** The other half, for reporting. */
  readonly oddQueries: MeasuredQueries;
  readonly byCategory: Readonly<Record<string, MeasuredQueries>>;
}

/** Measures a run against the judgements of its data set. */
export function reportRun(dataset: Dataset, run: Run, floor: number): Report {
  const measured = (queries: readonly EvaluationQuery[]) => measureQueries(queries, run, floor);
  const categories = [...Map.groupBy(dataset.queries, ({ category }) => category ?? 'none')]
    .sort(([a], [b]) => compareCodeUnits(a, b))
    .map(([category, queries]) => [category, measured(queries)] as const);
  return {
    entries: dataset.entries.length,
    queries: dataset.queries.length,
    all: measured(dataset.queries),
    evenQueries: measured(dataset.queries.filter((_, index) => index % 2 === 0)),
    oddQueries: measured(dataset.queries.filter((_, index) => index % 2 === 1)),
    byCategory: Object.fromEntries(categories),
  };
}

function measureQueries(queries: readonly EvaluationQuery[], run: Run, floor: number): MeasuredQueries {
  const scored = queries.filter(({ relevant }) => relevant.size > 0);
  const rankings = scored.map((query) => ({ query, ranking: rankingOf(query, run) }));
  const measures = MEASURES.map(({ name, measure, k }) => {
    const values = rankings.map(({ query, ranking }) =>
      measure(
        ranking.map(({ id }) => id),
        query.relevant,
        k,
      ),
    );
    return [name, mean(values)] as const;
  });
  const aboveFloor = rankings.map(({ query, ranking }) =>
    ranking.some(({ id, score }) => score >= floor && query.relevant.has(id)) ? 1 : 0,
  );
  return {
    scoredQueries: scored.length,
    measures: scored.length === 0 ? {} : Object.fromEntries(measures),
    relevantAboveFloor: scored.length === 0 ? 0 : mean(aboveFloor),
  };
}

/** A query that was not run is not a query without hits. */
function rankingOf(query: EvaluationQuery, run: Run): readonly RankedId[] {
  const ranking = run.get(query.id);
  if (ranking === undefined) throw new RangeError(`The run has no ranking of query ${query.id}.`);
  return ranking;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Columns of the Markdown table: those that say most in little room. */
const TABLE_MEASURES = ['recall@1', 'recall@5', 'recall@10', 'hit_rate@5', 'mrr@100', 'ndcg@10'];

/** A Markdown table with one row for all queries, one a half and one a category. Three decimals. */
export function markdownTable(report: Report): string {
  const rows: readonly (readonly [string, MeasuredQueries])[] = [
    ['all', report.all],
    ['even queries', report.evenQueries],
    ['odd queries', report.oddQueries],
    ...Object.entries(report.byCategory),
  ];
  const lines = rows
    .filter(([, { scoredQueries }]) => scoredQueries > 0)
    .map(([name, { scoredQueries, measures, relevantAboveFloor }]) => {
      const values = [
        ...TABLE_MEASURES.map((measure) => measures[measure] ?? Number.NaN),
        relevantAboveFloor,
      ];
      return `| ${[name, scoredQueries, ...values.map((value) => value.toFixed(3))].join(' | ')} |`;
    });
  const heads = ['queries', 'scored', ...TABLE_MEASURES, 'above floor'];
  return [`| ${heads.join(' | ')} |`, `|---${'|---:'.repeat(heads.length - 1)}|`, ...lines].join('\n');
}
