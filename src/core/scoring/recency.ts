const MILLISECONDS_PER_DAY = 86_400_000;

/**
 * Age in days, fractional. A time in the future counts as now: a clock that runs ahead must not meet the pole
 * of `decay / (1 + age)` at -1, nor lift a recency above 1.
 *
 * @param updatedAt - Milliseconds since the epoch.
 * @param now - Milliseconds since the epoch.
 * @returns At least 0.
 */
export function ageInDays(updatedAt: number, now: number): number {
  return Math.max(0, (now - updatedAt) / MILLISECONDS_PER_DAY);
}

/**
 * What recency adds to the multiplier of a `boosted` profile: `decay / (1 + ageDays)` (Ontheia, section 2.1).
 *
 * @param options.ageDays - At least 0; may be infinite.
 * @param options.decay - In [0, 1]; 0 switches recency off.
 * @returns In [0, decay]: `decay` for a new entry, half of it after one day.
 */
export function recencyShare({ ageDays, decay }: { ageDays: number; decay: number }): number {
  return decay / (1 + ageDays);
}

/**
 * Recency of a `weighted` profile: `0.5 ^ (ageDays / halfLifeDays)` (Venkai, "recency").
 *
 * @param options.ageDays - At least 0; may be infinite.
 * @param options.halfLifeDays - Above 0.
 * @returns In [0, 1]: 1 for a new entry, one half after each half-life.
 */
export function recencyHalfLife({
  ageDays,
  halfLifeDays,
}: {
  ageDays: number;
  halfLifeDays: number;
}): number {
  return 0.5 ** (ageDays / halfLifeDays);
}
