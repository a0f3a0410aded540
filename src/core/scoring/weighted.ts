import type { Breakdown, Factor, SignalWeights, WeightedProfile } from '../types.ts';
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

/** The four terms, each in [0, 1]. */
function weightedTerms({ similarity, ageDays, importance, count, profile }: WeightedInput): SignalWeights {
  return {
    similarity: similarity ?? 1,
    recency: recencyHalfLife({ ageDays, halfLifeDays: profile.halfLifeDays }),
    importance,
    frequency: frequency({ count, saturation: profile.frequencySaturation }),
  };
}

/**
 * Score: `w₁ similarity + w₂ recency + w₃ importance + w₄ frequency` (Venkai, "The formula").
 *
 * @returns Between 0 and the sum of the weights, which is 1 by default.
 */
export function weightedScore(input: WeightedInput): number {
  const { weights } = input.profile;
  const terms = weightedTerms(input);
  return (
    weights.similarity * terms.similarity +
    weights.recency * terms.recency +
    weights.importance * terms.importance +
    weights.frequency * terms.frequency
  );
}

/** {@link weightedScore} with the parts it is made of. */
export function weightedBreakdown(input: WeightedInput): Breakdown {
  const { weights } = input.profile;
  const terms = weightedTerms(input);
  const factor = (signal: keyof SignalWeights, raw: number): Factor => ({
    signal,
    raw,
    value: terms[signal],
    weight: weights[signal],
    contribution: weights[signal] * terms[signal],
  });
  return {
    score: weightedScore(input),
    factors: [
      factor('similarity', terms.similarity),
      factor('recency', input.ageDays),
      factor('importance', input.importance),
      factor('frequency', input.count),
    ],
  };
}
