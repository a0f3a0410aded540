import { MAX_TOP_K, MIN_TOP_K } from '../defaults.ts';
import { excerpt, invalidInput } from '../errors.ts';
import type { RankingProfile } from '../types.ts';

/** The numbers of a ranking that a request or a policy may set. */
export interface RankingParameters {
  /** How many hits are returned, 1..200. */
  readonly topK: number;
  /** Floor on the final score, at least 0. 0 lets everything pass. */
  readonly minScore: number;
  /** Floor as a fraction of the best score of this result, in [0, 1]. 0 disables. */
  readonly relativeCutoff: number;
}

/** The same as somebody may say them: what is undefined falls back to the next in line. */
export type RankingRequest = {
  readonly [Name in keyof RankingParameters]?: RankingParameters[Name] | undefined;
};

/**
 * The parameters of one ranking: what the request says, else what the profile says. 0 is a value.
 *
 * @throws PalimpsestError `invalid_input` for a number outside its range
 */
export function resolveRankingParameters(
  profile: RankingProfile,
  request: RankingRequest,
): RankingParameters {
  const topK = request.topK ?? profile.topK;
  const minScore = request.minScore ?? profile.minScore;
  const relativeCutoff = request.relativeCutoff ?? profile.relativeCutoff;
  check('top_k', topK, Number.isInteger(topK) && topK >= MIN_TOP_K && topK <= MAX_TOP_K, TOP_K_RULE);
  check('min_score', minScore, Number.isFinite(minScore) && minScore >= 0, 'a number of at least 0');
  check('relative_cutoff', relativeCutoff, relativeCutoff >= 0 && relativeCutoff <= 1, 'a number in [0, 1]');
  return { topK, minScore, relativeCutoff };
}

const TOP_K_RULE = `a whole number from ${MIN_TOP_K} to ${MAX_TOP_K}`;

function check(path: string, value: number, isAllowed: boolean, allowed: string): void {
  if (isAllowed) return;
  throw invalidInput(`${path} is ${excerpt(value)}; allowed is ${allowed}.`, {
    path,
    got: excerpt(value),
    allowed,
  });
}
