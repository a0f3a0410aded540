import type { CutCandidate, ScoredCandidate } from '../types.ts';

/** The floors a score must reach. */
export interface Cutoffs {
  /** On the final score, at least 0. 0 lets everything pass. */
  readonly minScore: number;
  /** As a fraction of the best score of this result, in [0, 1]. 0 disables. */
  readonly relativeCutoff: number;
}

/** Highest of the scores; null when there is none. */
export function bestScoreOf(candidates: readonly ScoredCandidate[]): number | null {
  let best: number | null = null;
  for (const { score } of candidates) {
    if (score !== null && (best === null || score > best)) best = score;
  }
  return best;
}

/** The floor that `relativeCutoff` sets, below which a score is cut; exactly on it, it stays. */
export function relativeFloor(relativeCutoff: number, bestScore: number | null): number {
  return relativeCutoff * (bestScore ?? 0);
}

/**
 * Cuts by `minScore`, then by `relativeCutoff`. Both read the final score, not the similarity: a result can
 * pass a floor that its own similarity would miss (Ontheia, section 3). Candidates without a score (browsing)
 * meet no floor.
 */
export function applyCutoffs(
  ranked: readonly ScoredCandidate[],
  { minScore, relativeCutoff }: Cutoffs,
): { kept: ScoredCandidate[]; cut: CutCandidate[] } {
  const floor = relativeFloor(relativeCutoff, bestScoreOf(ranked));
  const kept: ScoredCandidate[] = [];
  const cut: CutCandidate[] = [];
  for (const scored of ranked) {
    if (scored.score !== null && scored.score < minScore) {
      cut.push({ ...scored, reason: 'min_score', threshold: minScore, duplicateOf: null });
    } else if (scored.score !== null && scored.score < floor) {
      cut.push({ ...scored, reason: 'relative_cutoff', threshold: floor, duplicateOf: null });
    } else {
      kept.push(scored);
    }
  }
  return { kept, cut };
}
