import { z } from 'zod';
import { BOOSTED_PROFILE, MAX_TOP_K, MIN_TOP_K, WEIGHTED_PROFILE } from '../core/defaults.ts';
import type { RankingProfile } from '../core/types.ts';
import { wireWarningsField } from './warning.ts';
import { wireInstant } from './wire-instant.ts';

const share = z.number().meta({ minimum: 0, maximum: 1 });
const sharedFields = {
  min_score: z.number().meta({ minimum: 0, description: 'Floor on the score. 0 lets all pass.' }),
  relative_cutoff: share.meta({ description: 'Floor as a fraction of the best score. 0 disables.' }),
  top_k: z
    .number()
    .meta({ type: 'integer', minimum: MIN_TOP_K, maximum: MAX_TOP_K, description: 'How many hits.' }),
};
const boostedFields = {
  recency_decay: share.meta({ description: 'Share of recency at age 0. 0 switches it off.' }),
  ...sharedFields,
};
const weights = z.strictObject({ similarity: share, recency: share, importance: share, frequency: share });
const weightedFields = {
  weights,
  half_life_days: z.number().meta({ exclusiveMinimum: 0, description: 'Age at which recency is one half.' }),
  frequency_saturation: z.number().meta({ minimum: 1, description: 'Count at which frequency reaches 1.' }),
  frequency_source: z.enum(['validated_access_count', 'access_count']),
  ...sharedFields,
};

/** Every parameter of a profile: what a trace shows, and what a profile's answer shows. */
export const wireProfileSchema = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('boosted'), name: z.string(), ...boostedFields }),
    z.strictObject({ kind: z.literal('weighted'), name: z.string(), ...weightedFields }),
  ])
  .meta({ id: 'RankingProfile' });

/**
 * What an administrator sends to make or replace a profile, whose name is in the path. What is left out is as in
 * the built-in profile of the same kind.
 */
export const profileDraftSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('boosted'), ...optional(boostedFields) }),
  z.strictObject({ kind: z.literal('weighted'), ...optional(weightedFields) }),
]);

export type ProfileDraft = z.output<typeof profileDraftSchema>;

function optional<Shape extends Record<string, z.ZodType>>(shape: Shape) {
  return z.object(shape).partial().shape;
}

/**
 * The profile that a draft describes. The service checks its numbers.
 *
 * @param builtIn - The built-in profiles of this server, which a configuration may have changed.
 */
export function profileOf(
  name: string,
  draft: ProfileDraft,
  builtIn: ReadonlyMap<string, RankingProfile>,
): RankingProfile {
  const { min_score: minScore, relative_cutoff: relativeCutoff, top_k: topK } = draft;
  const base = builtIn.get(draft.kind);
  if (draft.kind === 'boosted') {
    const { recency_decay: recencyDecay } = draft;
    return {
      ...(base?.kind === 'boosted' ? base : BOOSTED_PROFILE),
      ...given({ recencyDecay, minScore, relativeCutoff, topK }),
      name,
    };
  }
  return {
    ...(base?.kind === 'weighted' ? base : WEIGHTED_PROFILE),
    ...given({
      weights: draft.weights,
      halfLifeDays: draft.half_life_days,
      frequencySaturation: draft.frequency_saturation,
      frequencySource: draft.frequency_source,
      minScore,
      relativeCutoff,
      topK,
    }),
    name,
  };
}

/** The fields that are not undefined: spread over defaults, 0 stays 0. */
function given<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}

export const wireProfileViewSchema = z
  .strictObject({
    profile: wireProfileSchema,
    is_built_in: z.boolean(),
    created_at: wireInstant.nullable(),
    updated_at: wireInstant.nullable(),
  })
  .meta({ id: 'ProfileView' });

export const wireKeptProfileSchema = z
  .strictObject({ profile: wireProfileViewSchema, warnings: wireWarningsField })
  .meta({ id: 'KeptProfile' });

export const wireProfileListSchema = z
  .strictObject({ profiles: z.array(wireProfileViewSchema) })
  .meta({ id: 'ProfileList' });
