import type { Breakdown, Factor, WeightedProfile } from '../types.ts';
import { frequency } from './frequency.ts';
import { recencyHalfLife } from './recency.ts';

export interface WeightedInput {
  /** In [0, 1]; null without a query, which counts as 1.0 so that the other terms decide (Venkai, "relevance"). */
  readonly similarity: number | null;
  /** At least 0; may be infinite. */
  readonly ageDays: number;
  /** In [0, 1]. */
  readonly importance: number;
  /** The counter the profile reads, at least 0. */
  readonly count: number;
  readonly profile: Pick<WeightedProfile, 'weights' | 'halfLifeDays' | 'frequencySaturation'>;
}

/**
 * Score: `w₁ similarity + w₂ recency + w₃ importance + w₄ frequency` (Venkai, "The formula").
 *
 * Every term is in [0, 1], so the score lies between 0 and the sum of the weights, which is 1 by default.
 */
export function weightedBreakdown(input: WeightedInput): Breakdown {
  const { weights, halfLifeDays, frequencySaturation } = input.profile;
  const similarity = input.similarity ?? 1;
  const recency = recencyHalfLife({ ageDays: input.ageDays, halfLifeDays });
  const use = frequency({ count: input.count, saturation: frequencySaturation });
  const factors: Factor[] = [
    weighed('similarity', similarity, similarity, weights.similarity),
    weighed('recency', input.ageDays, recency, weights.recency),
    weighed('importance', input.importance, input.importance, weights.importance),
    weighed('frequency', input.count, use, weights.frequency),
  ];
  return { score: factors.reduce((sum, { contribution }) => sum + contribution, 0), factors };
}

function weighed(signal: Factor['signal'], raw: number, value: number, weight: number): Factor {
  return { signal, raw, value, weight, contribution: value * weight };
}
