import type { Cut } from './cutoff.ts';
import type { Ranked } from './order.ts';

/** A candidate and the equal contents it stands for. */
export interface Unique extends Ranked {
  readonly duplicates: readonly Ranked[];
}

/**
 * Makes one of all candidates with the same content hash: the first in rank order stands for the others and
 * lists them in its `duplicates`.
 *
 * @param ranked - In rank order.
 * @returns The unique ones in rank order, and the duplicates as cut candidates that name who stands for them.
 */
export function dedupe(ranked: readonly Ranked[]): { unique: Unique[]; cut: Cut[] } {
  const groups = new Map<string, { winner: Ranked; duplicates: Ranked[] }>();
  const cut: Cut[] = [];
  for (const { candidate, score } of ranked) {
    const group = groups.get(candidate.contentHash);
    if (group === undefined) {
      groups.set(candidate.contentHash, { winner: { candidate, score }, duplicates: [] });
    } else {
      group.duplicates.push({ candidate, score });
      const duplicateOf = group.winner.candidate.id;
      cut.push({ candidate, score, reason: 'duplicate', threshold: null, duplicateOf });
    }
  }
  return { unique: [...groups.values()].map(({ winner, duplicates }) => ({ ...winner, duplicates })), cut };
}
