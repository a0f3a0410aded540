import { compareCodeUnits } from '../text-order.ts';
import type { ScoredCandidate } from '../types.ts';

/** A candidate in the ranking, not yet explained. */
export type Ranked = Pick<ScoredCandidate, 'candidate' | 'score'>;

/**
 * The order of every result: score descending, then `updatedAt` descending, then id ascending by code unit.
 * Total, so it does not depend on the order candidates arrive in. Without scores (browsing) it is newest first.
 */
export function compareRanked(a: Ranked, b: Ranked): number {
  return (
    (b.score ?? 0) - (a.score ?? 0) ||
    b.candidate.updatedAt - a.candidate.updatedAt ||
    compareCodeUnits(a.candidate.id, b.candidate.id)
  );
}
