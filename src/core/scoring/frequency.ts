import type { Candidate, WeightedProfile } from '../types.ts';

/**
 * Frequency of confirmed use, on a logarithmic scale: `min(1, ln(1 + count) / ln(1 + saturation))` (Venkai,
 * "frequency"; its page names the scale and leaves the saturation open, SPEC section 4 sets 100).
 *
 * @param options.count - Whole, at least 0.
 * @param options.saturation - Count from which frequency is 1; at least 1.
 * @returns In [0, 1].
 */
export function frequency({ count, saturation }: { count: number; saturation: number }): number {
  return Math.min(1, Math.log1p(count) / Math.log1p(saturation));
}

/** The counter a profile's frequency reads. */
export function frequencyCount(
  profile: Pick<WeightedProfile, 'frequencySource'>,
  counts: Pick<Candidate, 'accessCount' | 'validatedAccessCount'>,
): number {
  return profile.frequencySource === 'access_count' ? counts.accessCount : counts.validatedAccessCount;
}
