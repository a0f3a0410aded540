import { boostedBreakdown } from '../scoring/boosted.ts';
import { frequencyCount } from '../scoring/frequency.ts';
import { ageInDays } from '../scoring/recency.ts';
import { weightedBreakdown } from '../scoring/weighted.ts';
import type {
  Breakdown,
  Candidate,
  CutCandidate,
  NamespaceRule,
  RankedHit,
  RankingProfile,
  ScoredCandidate,
} from '../types.ts';
import { applyCutoffs, bestScoreOf } from './cutoff.ts';
import { dedupe } from './dedupe.ts';
import { compareRanked } from './order.ts';
import type { RankingParameters } from './parameters.ts';
import { matchRules } from './rules.ts';

export interface RankInput extends RankingParameters {
  /** In any order; the outcome does not depend on it. */
  readonly candidates: readonly Candidate[];
  readonly profile: RankingProfile;
  /** All rules; the ones that cover a candidate's namespace are found here. */
  readonly rules: readonly NamespaceRule[];
  /** False while browsing: candidates then have no similarity. */
  readonly hasQuery: boolean;
  /** Milliseconds since the epoch; ages are measured from here. */
  readonly now: number;
}

export interface RankOutcome {
  /** At most `topK`, best first. */
  readonly hits: readonly RankedHit[];
  /** Everything else, in rank order, each with the line that cut it. */
  readonly cut: readonly CutCandidate[];
  /** Highest score of all candidates, the cut ones included; null while browsing, or with no candidate. */
  readonly bestScore: number | null;
  /** The parameters that were applied: while browsing both floors are 0. */
  readonly effective: RankingParameters;
}

/** Whether a result is a listing, newest first, because a `boosted` profile has nothing to multiply. */
export function isBrowsing(profile: RankingProfile, hasQuery: boolean): boolean {
  return profile.kind === 'boosted' && !hasQuery;
}

/**
 * Ranks candidates: score → `minScore` → `relativeCutoff` → deduplicate → `topK`.
 *
 * Under a `boosted` profile without a query there is no score: newest first by `updatedAt`, no floor. Under a
 * `weighted` one every similarity then counts as 1.0.
 *
 * Costs a sort of the candidates and one breakdown each: 18 ms for 10,000.
 */
export function rank(input: RankInput): RankOutcome {
  const { profile, hasQuery, topK } = input;
  const effective: RankingParameters = isBrowsing(profile, hasQuery)
    ? { topK, minScore: 0, relativeCutoff: 0 }
    : { topK, minScore: input.minScore, relativeCutoff: input.relativeCutoff };
  const ranked = scoreCandidates(input).sort(compareRanked);
  const { kept, cut: belowFloor } = applyCutoffs(ranked, effective);
  const { hits, cut: duplicates } = dedupe(kept);
  const beyond = hits.slice(topK).map(({ candidate, score, breakdown }): CutCandidate => {
    return { candidate, score, breakdown, reason: 'top_k', threshold: null, duplicateOf: null };
  });
  return {
    hits: hits.slice(0, topK),
    // The floors cut a tail, so only duplicates and what is beyond `topK` have to be interleaved.
    cut: [...[...duplicates, ...beyond].sort(compareRanked), ...belowFloor],
    bestScore: bestScoreOf(ranked.slice(0, 1)),
    effective,
  };
}

function scoreCandidates({ candidates, profile, rules, hasQuery, now }: RankInput): ScoredCandidate[] {
  if (isBrowsing(profile, hasQuery)) {
    return candidates.map((candidate) => ({ candidate, score: null, breakdown: null }));
  }
  const bonuses = matchRules(rules, new Set(candidates.map(({ namespace }) => namespace)));
  return candidates.map((candidate) => {
    const breakdown = scoreCandidate(
      candidate,
      profile,
      bonuses.get(candidate.namespace) ?? [],
      hasQuery,
      now,
    );
    return { candidate, score: breakdown.score, breakdown };
  });
}

function scoreCandidate(
  candidate: Candidate,
  profile: RankingProfile,
  bonuses: readonly NamespaceRule[],
  hasQuery: boolean,
  now: number,
): Breakdown {
  const ageDays = ageInDays(candidate.updatedAt, now);
  // With a query, an entry without a vector is not unmeasured but unrelated.
  const similarity = candidate.similarity ?? 0;
  if (profile.kind === 'boosted') return boostedBreakdown({ similarity, ageDays, bonuses, profile });
  return weightedBreakdown({
    similarity: hasQuery ? similarity : null,
    ageDays,
    importance: candidate.importance,
    count: frequencyCount(profile, candidate),
    profile,
  });
}
