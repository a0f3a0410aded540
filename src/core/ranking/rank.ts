import { isBrowsing, profileBreakdown, profileScore, type ScoringContext } from '../scoring/profile.ts';
import type { Breakdown, Candidate, CutCandidate, NamespaceRule, RankedHit } from '../types.ts';
import { applyCutoffs, type Cut } from './cutoff.ts';
import { dedupe } from './dedupe.ts';
import { compareRanked, type Ranked } from './order.ts';
import type { RankingParameters } from './parameters.ts';
import { matchRules } from './rules.ts';

export interface RankInput extends RankingParameters, ScoringContext {
  /** In any order; the outcome does not depend on it. */
  readonly candidates: readonly Candidate[];
  /** All rules; the ones that cover a candidate's namespace are found here. */
  readonly rules: readonly NamespaceRule[];
  /** How many of the cut candidates the outcome lists, nearest to the line first. Default all. */
  readonly cutLimit?: number | undefined;
}

export interface RankOutcome {
  /** At most `topK`, best first. */
  readonly hits: readonly RankedHit[];
  /** The others in rank order, each with the line that cut it; the first `cutLimit` of them. */
  readonly cut: readonly CutCandidate[];
  /** How many were cut in all. */
  readonly cutCount: number;
  /** Highest score of all candidates, the cut ones included; null while browsing, or with no candidate. */
  readonly bestScore: number | null;
  /** The parameters that were applied: while browsing both floors are 0. */
  readonly effective: RankingParameters;
}

/**
 * Ranks candidates: score → `minScore` → `relativeCutoff` → deduplicate → `topK`.
 *
 * Under a `boosted` profile without a query there is no score: newest first by `updatedAt`, no floor. Under a
 * `weighted` one every similarity then counts as 1.0.
 */
export function rank(input: RankInput): RankOutcome {
  const { candidates, rules, topK } = input;
  const isListing = isBrowsing(input);
  const effective: RankingParameters = isListing
    ? { topK, minScore: 0, relativeCutoff: 0 }
    : { topK, minScore: input.minScore, relativeCutoff: input.relativeCutoff };
  const bonuses = matchRules(rules, new Set(candidates.map(({ namespace }) => namespace)));
  const bonusesOf = ({ namespace }: Candidate) => bonuses.get(namespace) ?? [];

  const ranked = candidates
    .map((candidate): Ranked => {
      return { candidate, score: isListing ? null : profileScore(candidate, bonusesOf(candidate), input) };
    })
    .sort(compareRanked);
  const { kept, cut: belowFloor } = applyCutoffs(ranked, effective);
  const { unique, cut: duplicates } = dedupe(kept);
  const beyond = unique.slice(topK).map(({ candidate, score }): Cut => {
    return { candidate, score, reason: 'top_k', threshold: null, duplicateOf: null };
  });
  // The floors cut a tail, so only duplicates and what is beyond `topK` have to be interleaved.
  const cut = [...[...duplicates, ...beyond].sort(compareRanked), ...belowFloor];

  // Breakdowns are made for what is shown alone: 100,000 candidates then take 0.13 s instead of 0.45 s.
  const explain = <Line extends Ranked>(line: Line): Line & { breakdown: Breakdown | null } => {
    const { candidate } = line;
    return {
      ...line,
      breakdown: isListing ? null : profileBreakdown(candidate, bonusesOf(candidate), input),
    };
  };
  return {
    hits: unique
      .slice(0, topK)
      .map((hit) => ({ ...explain(hit), duplicates: hit.duplicates.map((duplicate) => explain(duplicate)) })),
    cut: cut.slice(0, input.cutLimit ?? cut.length).map((line) => explain(line)),
    cutCount: cut.length,
    bestScore: ranked[0]?.score ?? null,
    effective,
  };
}
