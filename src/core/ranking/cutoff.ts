import type { CutCandidate } from '../types.ts';
import type { Ranked } from './order.ts';
import type { RankingParameters } from './parameters.ts';

/** A candidate that was cut and why, not yet explained. */
export type Cut = Omit<CutCandidate, 'breakdown'>;

/** The floor that `relativeCutoff` sets, below which a score is cut; exactly on it, it stays. */
export function relativeFloor(relativeCutoff: number, bestScore: number | null): number {
  return relativeCutoff * (bestScore ?? 0);
}

/**
 * Cuts by `minScore`, then by `relativeCutoff`. Both read the final score, not the similarity: a result can
 * pass a floor that its own similarity would miss (Ontheia, section 3). Candidates without a score (browsing)
 * meet no floor.
 *
 * @param ranked - In rank order, so the first has the best score and the floors cut a tail.
 */
export function applyCutoffs(
  ranked: readonly Ranked[],
  { minScore, relativeCutoff }: Pick<RankingParameters, 'minScore' | 'relativeCutoff'>,
): { kept: Ranked[]; cut: Cut[] } {
  const floor = relativeFloor(relativeCutoff, ranked[0]?.score ?? null);
  const kept: Ranked[] = [];
  const cut: Cut[] = [];
  for (const { candidate, score } of ranked) {
    if (score !== null && score < minScore) {
      cut.push({ candidate, score, reason: 'min_score', threshold: minScore, duplicateOf: null });
    } else if (score !== null && score < floor) {
      cut.push({ candidate, score, reason: 'relative_cutoff', threshold: floor, duplicateOf: null });
    } else {
      kept.push({ candidate, score });
    }
  }
  return { kept, cut };
}
