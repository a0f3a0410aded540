import { BOOSTED_PROFILE, RISKY_RELATIVE_CUTOFF } from '../core/defaults.ts';
import type { BoostedProfile } from '../core/types.ts';
import { number } from './form.ts';
import { defineSettings, type ReadSetting } from './setting.ts';

export const RANKING_SETTINGS = defineSettings({
  recencyDecay: {
    key: 'ranking.recency_decay',
    variable: 'PALIMPSEST_RECENCY_DECAY',
    form: number(0, 1),
    meaning: 'Share of recency at age 0 in the profile `boosted`. 0 switches it off.',
    standard: String(BOOSTED_PROFILE.recencyDecay),
  },
  minScore: {
    key: 'ranking.min_score',
    variable: 'PALIMPSEST_MIN_SCORE',
    form: number(0),
    meaning: 'Floor on the relevance in the profile `boosted`. 0 lets all pass. A policy may say otherwise.',
    standard: String(BOOSTED_PROFILE.minScore),
  },
  relativeCutoff: {
    key: 'ranking.relative_cutoff',
    variable: 'PALIMPSEST_RELATIVE_CUTOFF',
    form: number(0, 1),
    meaning: `Floor as a fraction of the best relevance in the profile \`boosted\`. 0 disables; from ${RISKY_RELATIVE_CUTOFF} upwards the log warns. A policy may say otherwise.`,
    standard: String(BOOSTED_PROFILE.relativeCutoff),
  },
});

/** What this server's built-in ranking profiles differ in from the product's. */
export interface RankingConfig {
  readonly boosted: BoostedProfile;
}

/** @throws PalimpsestError `invalid_config` */
export function rankingConfig(read: ReadSetting): RankingConfig {
  return {
    boosted: {
      ...BOOSTED_PROFILE,
      recencyDecay: read(RANKING_SETTINGS.recencyDecay).value ?? BOOSTED_PROFILE.recencyDecay,
      minScore: read(RANKING_SETTINGS.minScore).value ?? BOOSTED_PROFILE.minScore,
      relativeCutoff: read(RANKING_SETTINGS.relativeCutoff).value ?? BOOSTED_PROFILE.relativeCutoff,
    },
  };
}

/** What is set and probably not meant. */
export function rankingWarnings({ boosted: { relativeCutoff } }: RankingConfig): string[] {
  if (relativeCutoff < RISKY_RELATIVE_CUTOFF) return [];
  return [
    `ranking.relative_cutoff is ${relativeCutoff}: from ${RISKY_RELATIVE_CUTOFF} upwards it takes many legitimate hits.`,
  ];
}
