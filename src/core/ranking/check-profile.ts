import { checkWord } from '../entry.ts';
import { excerpt, invalidInput } from '../errors.ts';
import type { RankingProfile, SignalWeights } from '../types.ts';
import { resolveRankingParameters } from './parameters.ts';

/** Longest name of a profile, in code points. */
export const MAX_PROFILE_NAME_LENGTH = 64;
/** Largest saturation a frequency may have: far above any count, and exact as a number. */
const MAX_SATURATION = 1e9;
/** Longest half-life, about a thousand years of days; a longer one would make every recency 1. */
const MAX_HALF_LIFE_DAYS = 365_250;
/** Decimal weights such as 0.1 + 0.2 + 0.7 add up to 1 only about. */
const WEIGHT_SUM_SLACK = 1e-9;

/**
 * Checks the parameters of a profile: each in its range, and the weights of a `weighted` one at most 1 together, so
 * that its scores stay in [0, 1].
 *
 * @returns The profile, unchanged.
 * @throws PalimpsestError `invalid_input`
 */
export function checkProfile(profile: RankingProfile): RankingProfile {
  checkWord(profile.name, 'name', MAX_PROFILE_NAME_LENGTH);
  resolveRankingParameters(profile, {});
  if (profile.kind === 'boosted') {
    checkRange('recency_decay', profile.recencyDecay, 0, 1);
    return profile;
  }
  checkWeights(profile.weights);
  const { halfLifeDays } = profile;
  if (!(halfLifeDays > 0 && halfLifeDays <= MAX_HALF_LIFE_DAYS)) {
    throw outside('half_life_days', halfLifeDays, `a number above 0, at most ${MAX_HALF_LIFE_DAYS}`);
  }
  checkRange('frequency_saturation', profile.frequencySaturation, 1, MAX_SATURATION);
  return profile;
}

function checkWeights(weights: SignalWeights): void {
  const parts = Object.entries(weights);
  for (const [signal, weight] of parts) checkRange(`weights.${signal}`, weight, 0, 1);
  const sum = parts.reduce((total, [, weight]) => total + weight, 0);
  if (sum > 0 && sum <= 1 + WEIGHT_SUM_SLACK) return;
  throw outside('weights', sum, 'weights that together are above 0 and at most 1');
}

function checkRange(path: string, value: number, least: number, most: number): void {
  if (value >= least && value <= most) return;
  throw outside(path, value, `a number from ${least} to ${most}`);
}

function outside(path: string, value: number, allowed: string) {
  return invalidInput(`${path} is ${excerpt(value)}; allowed is ${allowed}.`, {
    path,
    got: excerpt(value),
    allowed,
  });
}
