import type { Breakdown, Candidate, RankingProfile } from '../types.ts';
import { type BoostedInput, boostedBreakdown, boostedScore, type RuleBonus } from './boosted.ts';
import { frequencyCount } from './frequency.ts';
import { ageInDays } from './recency.ts';
import { type WeightedInput, weightedBreakdown, weightedScore } from './weighted.ts';

/** What a formula reads, whichever it is: an entry's factors, or upper bounds of many entries' factors. */
export type RankingFactors = Pick<
  Candidate,
  'similarity' | 'updatedAt' | 'importance' | 'accessCount' | 'validatedAccessCount'
>;

/** What a formula reads beside the entry. */
export interface ScoringContext {
  readonly profile: RankingProfile;
  /** Without a query a `weighted` profile takes every similarity as 1.0. */
  readonly hasQuery: boolean;
  /** Milliseconds since the epoch; ages are measured from here. */
  readonly now: number;
}

/** Whether a result is a listing, newest first, because a `boosted` profile has nothing to multiply. */
export function isBrowsing({ profile, hasQuery }: Pick<ScoringContext, 'profile' | 'hasQuery'>): boolean {
  return profile.kind === 'boosted' && !hasQuery;
}

/** An entry's score under a profile. The same number as in {@link profileBreakdown}. */
export function profileScore(
  factors: RankingFactors,
  bonuses: readonly RuleBonus[],
  context: ScoringContext,
): number {
  return evaluate(factors, bonuses, context, boostedScore, weightedScore);
}

/** An entry's score under a profile, with the parts it is made of. */
export function profileBreakdown(
  factors: RankingFactors,
  bonuses: readonly RuleBonus[],
  context: ScoringContext,
): Breakdown {
  return evaluate(factors, bonuses, context, boostedBreakdown, weightedBreakdown);
}

function evaluate<Result>(
  factors: RankingFactors,
  bonuses: readonly RuleBonus[],
  { profile, hasQuery, now }: ScoringContext,
  boosted: (input: BoostedInput) => Result,
  weighted: (input: WeightedInput) => Result,
): Result {
  const ageDays = ageInDays(factors.updatedAt, now);
  // With a query, an entry without a vector is not unmeasured but unrelated.
  const similarity = factors.similarity ?? 0;
  if (profile.kind === 'boosted') return boosted({ similarity, ageDays, bonuses, profile });
  return weighted({
    similarity: hasQuery ? similarity : null,
    ageDays,
    importance: factors.importance,
    count: frequencyCount(profile, factors),
    profile,
  });
}
