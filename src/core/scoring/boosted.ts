import type { BoostedProfile, Breakdown, Factor } from '../types.ts';
import { recencyShare } from './recency.ts';

/** What one rule adds to the multiplier, and where it comes from. */
export interface RuleBonus {
  readonly pattern: string;
  /** In [0, 1]: 0.1 is 10 % of the similarity. */
  readonly bonus: number;
}

export interface BoostedInput {
  /** In [0, 1]. Always what was measured, never an already weighted value. */
  readonly similarity: number;
  /** At least 0; may be infinite. */
  readonly ageDays: number;
  /** Of all rules that cover the entry's namespace; they add up. */
  readonly bonuses: readonly RuleBonus[];
  readonly profile: Pick<BoostedProfile, 'recencyDecay'>;
}

/**
 * Relevance: `similarity × (1 + Σ bonus + recencyDecay / (1 + ageDays))` (Ontheia, section 3).
 *
 * @returns At least the similarity, since the multiplier is at least 1; can exceed 1.
 */
export function boostedScore({ similarity, ageDays, bonuses, profile }: BoostedInput): number {
  const bonusSum = bonuses.reduce((sum, { bonus }) => sum + bonus, 0);
  return similarity * (1 + bonusSum + recencyShare({ ageDays, decay: profile.recencyDecay }));
}

/**
 * {@link boostedScore} with the parts it is made of. The product is spread over its summands: each bonus and
 * the recency share count with the similarity as their weight.
 */
export function boostedBreakdown(input: BoostedInput): Breakdown {
  const { similarity, ageDays, bonuses, profile } = input;
  const share = recencyShare({ ageDays, decay: profile.recencyDecay });
  const factors: Factor[] = [
    { signal: 'similarity', raw: similarity, value: similarity, weight: 1, contribution: similarity },
    ...bonuses.map(
      ({ pattern, bonus }): Factor => ({
        signal: 'bonus',
        raw: bonus,
        value: bonus,
        weight: similarity,
        contribution: bonus * similarity,
        pattern,
      }),
    ),
    { signal: 'recency', raw: ageDays, value: share, weight: similarity, contribution: share * similarity },
  ];
  return { score: boostedScore(input), factors };
}
