import type { BoundFactor } from '../ports.ts';
import type { RuleBonus } from '../scoring/boosted.ts';
import { isBrowsing, profileScore, type ScoringContext } from '../scoring/profile.ts';
import type { FactorMaxima, NamespaceRule, RankingProfile } from '../types.ts';
import { relativeFloor } from './cutoff.ts';
import type { RankOutcome } from './rank.ts';
import { matchRules } from './rules.ts';

export interface ScoreBoundInput extends ScoringContext {
  /** Upper bounds of each factor over the entries that were not fetched. */
  readonly maxima: FactorMaxima;
  readonly rules: readonly NamespaceRule[];
  /** Every namespace those entries may be in. */
  readonly namespaces: readonly string[];
}

/**
 * Lifts a bound over the rounding of both sides. A score and its bound go through the same few operations;
 * `**` and `log1p` may err by an ulp or two (2.2e-16) and need not be monotonic there. 1e-12 is a thousand
 * times that, and far below any difference between scores that means something.
 */
const ROUNDING_MARGIN = 1e-12;

/**
 * The highest score an entry can have whose factors are bounded by `maxima`: the profile's own formula on the
 * maxima, under `boosted` with the largest sum of bonuses that any of the namespaces gets.
 *
 * Both formulas rise with every factor and fall with age, so the maxima together are never exceeded. Rounded
 * upwards by {@link ROUNDING_MARGIN}.
 *
 * @returns Null while browsing, where there is no score.
 */
export function scoreUpperBound(input: ScoreBoundInput): number | null {
  if (isBrowsing(input)) return null;
  const bonuses = input.profile.kind === 'boosted' ? largestBonuses(input.rules, input.namespaces) : [];
  return profileScore(input.maxima, bonuses, input) * (1 + ROUNDING_MARGIN);
}

function largestBonuses(
  rules: readonly NamespaceRule[],
  namespaces: readonly string[],
): readonly RuleBonus[] {
  const sum = (bonuses: readonly RuleBonus[]) => bonuses.reduce((total, { bonus }) => total + bonus, 0);
  let largest: readonly RuleBonus[] = [];
  for (const bonuses of matchRules(rules, namespaces).values()) {
    if (sum(bonuses) > sum(largest)) largest = bonuses;
  }
  return largest;
}

/** Which maxima the bound of a profile reads, beside similarity and time: only the signals that weigh something. */
export function factorsToBound(profile: RankingProfile): BoundFactor[] {
  if (profile.kind === 'boosted') return [];
  const { weights, frequencySource } = profile;
  return [
    ...(weights.importance > 0 ? (['importance'] as const) : []),
    ...(weights.frequency > 0
      ? ([frequencySource === 'access_count' ? 'accessCount' : 'validatedAccessCount'] as const)
      : []),
  ];
}

export interface CertifyInput extends Omit<ScoreBoundInput, 'maxima'> {
  /** The ranking of the fetched candidates. */
  readonly outcome: RankOutcome;
  /** Bounds over what was not fetched; null when nothing was left out. */
  readonly rest: FactorMaxima | null;
  /** False when the source may have missed candidates that `rest` does not bound. */
  readonly bounded: boolean;
}

/** Whether a result is the exact top k of its whole scope, and the two numbers that prove it. */
export interface Certificate {
  readonly exact: boolean;
  /** No entry outside the fetched candidates scores higher. Null when there is none, or no bound. */
  readonly bound: number | null;
  /** Score of the k-th hit; null when fewer came out, and while browsing. */
  readonly kthScore: number | null;
}

/**
 * Proves, where it can, that ranking the whole scope would give the same hits in the same order with the same
 * scores. With `bound` the highest score outside:
 *
 * - k hits came out: `bound < kthScore`, strictly. Then nothing outside takes a place, becomes the best score
 *   that the relative cutoff is measured on, or takes over from an equal content; and no tie with the k-th is
 *   decided by what happened to be fetched.
 * - Fewer came out: whatever is outside must fall to a floor, `bound < minScore` or
 *   `bound < relativeCutoff × best score` (a fraction of the best, so the best stays what it is).
 * - While browsing: k hits, and everything outside is strictly older than the k-th.
 *
 * The proof is about hits. Their lists of duplicates are complete when the equal contents of the hits were
 * fetched too (`CandidateQuery.contentHashes`).
 */
export function certify(input: CertifyInput): Certificate {
  const { outcome, rest, bounded } = input;
  const { topK, minScore, relativeCutoff } = outcome.effective;
  const kth = outcome.hits.length >= topK ? outcome.hits[topK - 1] : undefined;
  const kthScore = kth?.score ?? null;
  if (!bounded) return { exact: false, bound: null, kthScore };
  if (rest === null) return { exact: true, bound: null, kthScore };
  if (isBrowsing(input)) {
    return { exact: kth !== undefined && rest.updatedAt < kth.candidate.updatedAt, bound: null, kthScore };
  }
  const bound = scoreUpperBound({ ...input, maxima: rest });
  if (bound === null) return { exact: false, bound, kthScore };
  const floor = Math.max(minScore, relativeFloor(relativeCutoff, outcome.bestScore));
  return { exact: bound < (kthScore ?? floor), bound, kthScore };
}
