import type { Dataset, EvaluationEntry, EvaluationQuery } from './dataset.ts';

/** A place in a ranking. */
export interface RankedId {
  readonly id: string;
  /** Higher is better; the list is in its order. */
  readonly score: number;
}

/**
 * Ranks the entries of one namespace for a query, best first. May leave entries out (thresholds), and need
 * not return more than `depth`.
 */
export type RankFunction = (
  query: EvaluationQuery,
  entries: readonly EvaluationEntry[],
  depth: number,
) => Promise<readonly RankedId[]>;

/** Ranked output of one configuration: query id → its ranking, in the order of the queries. */
export type Run = ReadonlyMap<string, readonly RankedId[]>;

/** As deep as any measure looks; BEIR's own depth. */
export const DEFAULT_DEPTH = 100;

/**
 * Ranks every query inside its namespace, one after another.
 *
 * @throws RangeError when the ranking function answers an id twice or one from outside the namespace.
 */
export async function rankQueries(
  dataset: Dataset,
  rank: RankFunction,
  options: { readonly depth?: number | undefined } = {},
): Promise<Run> {
  const depth = options.depth ?? DEFAULT_DEPTH;
  const entriesByNamespace = Map.groupBy(dataset.entries, ({ namespace }) => namespace);
  const run = new Map<string, readonly RankedId[]>();
  for (const query of dataset.queries) {
    const entries = entriesByNamespace.get(query.namespace) ?? [];
    const ranking = (await rank(query, entries, depth)).slice(0, depth);
    requireRankingOf(query, ranking, entries);
    run.set(query.id, ranking);
  }
  return run;
}

function requireRankingOf(
  query: EvaluationQuery,
  ranking: readonly RankedId[],
  entries: readonly EvaluationEntry[],
): void {
  const open = new Set(entries.map(({ id }) => id));
  for (const { id } of ranking) {
    if (open.delete(id)) continue;
    throw new RangeError(
      `The ranking of query ${query.id} names ${id} twice, or from outside ${query.namespace}.`,
    );
  }
}
