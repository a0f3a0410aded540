import { z } from 'zod';

export const wireProfileSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('boosted'),
    name: z.string(),
    recency_decay: z.number(),
    min_score: z.number(),
    relative_cutoff: z.number(),
    top_k: z.int(),
  }),
  z.strictObject({
    kind: z.literal('weighted'),
    name: z.string(),
    weights: z.strictObject({
      similarity: z.number(),
      recency: z.number(),
      importance: z.number(),
      frequency: z.number(),
    }),
    half_life_days: z.number(),
    frequency_saturation: z.number(),
    frequency_source: z.enum(['validated_access_count', 'access_count']),
    min_score: z.number(),
    relative_cutoff: z.number(),
    top_k: z.int(),
  }),
]);
