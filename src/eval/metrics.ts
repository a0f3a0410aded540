/**
 * Measures of a ranked list against judgements, as trec_eval and BEIR define them. Judgements are binary.
 * `ranking` holds ids, best first, each once; `relevant` the judged-relevant ids, at least one (a query without
 * any can not be scored and belongs into no mean); `k` is a whole number ≥ 1. All results are in [0, 1].
 */
export type Measure = (ranking: readonly string[], relevant: ReadonlySet<string>, k: number) => number;

/** Share of the relevant entries that stand in the first k. trec_eval: `recall_k`. */
export const recallAtK: Measure = (ranking, relevant, k) => hitsAtK(ranking, relevant, k) / relevant.size;

/** 1 where at least one relevant entry stands in the first k, else 0. trec_eval: `success_k`. */
export const hitRateAtK: Measure = (ranking, relevant, k) => (hitsAtK(ranking, relevant, k) > 0 ? 1 : 0);

/** Share of the first k places that hold a relevant entry; a short list has empty places. trec_eval: `P_k`. */
export const precisionAtK: Measure = (ranking, relevant, k) => hitsAtK(ranking, relevant, k) / k;

/** 1 / place of the first relevant entry, 0 where none stands in the first k. BEIR: `MRR@k`. */
export const mrrAtK: Measure = (ranking, relevant, k) => {
  requireScorable(ranking, relevant, k);
  const index = ranking.slice(0, k).findIndex((id) => relevant.has(id));
  return index === -1 ? 0 : 1 / (index + 1);
};

/**
 * Normalised discounted cumulative gain: Σ 1 / log₂(place + 1) over the relevant entries in the first k, divided by
 * the most that k places could give. trec_eval: `ndcg_cut_k` (Järvelin and Kekäläinen 2002, binary gain).
 */
export const ndcgAtK: Measure = (ranking, relevant, k) => {
  requireScorable(ranking, relevant, k);
  let gain = 0;
  ranking.slice(0, k).forEach((id, index) => {
    if (relevant.has(id)) gain += discount(index);
  });
  let ideal = 0;
  for (let index = 0; index < Math.min(k, relevant.size); index += 1) ideal += discount(index);
  return gain / ideal;
};

function discount(index: number): number {
  return 1 / Math.log2(index + 2);
}

function hitsAtK(ranking: readonly string[], relevant: ReadonlySet<string>, k: number): number {
  requireScorable(ranking, relevant, k);
  return ranking.slice(0, k).filter((id) => relevant.has(id)).length;
}

/** Wrong use of a measure would give a plausible number, so it throws. */
function requireScorable(ranking: readonly string[], relevant: ReadonlySet<string>, k: number): void {
  if (!Number.isInteger(k) || k < 1) throw new RangeError(`k is ${k}, and must be a whole number from 1 on.`);
  if (relevant.size === 0) throw new RangeError('A query without relevant entries can not be scored.');
  if (new Set(ranking).size !== ranking.length) throw new RangeError('A ranking names an id twice.');
}
