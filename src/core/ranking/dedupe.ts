import type { CutCandidate, RankedHit, ScoredCandidate } from '../types.ts';

/**
 * Makes one hit of all candidates with the same content hash: the first in rank order stands for the others
 * and lists them in its `duplicates`.
 *
 * @param ranked - In rank order.
 * @returns The hits in rank order, and the duplicates as cut candidates naming their hit.
 */
export function dedupe(ranked: readonly ScoredCandidate[]): { hits: RankedHit[]; cut: CutCandidate[] } {
  const groups = new Map<string, { winner: ScoredCandidate; duplicates: ScoredCandidate[] }>();
  const cut: CutCandidate[] = [];
  for (const scored of ranked) {
    const group = groups.get(scored.candidate.contentHash);
    if (group === undefined) {
      groups.set(scored.candidate.contentHash, { winner: scored, duplicates: [] });
    } else {
      group.duplicates.push(scored);
      cut.push({ ...scored, reason: 'duplicate', threshold: null, duplicateOf: group.winner.candidate.id });
    }
  }
  return { hits: [...groups.values()].map(({ winner, duplicates }) => ({ ...winner, duplicates })), cut };
}
