import { z } from 'zod';
import { MAX_TOP_K, MIN_TOP_K } from '../core/defaults.ts';
import { namespacesField, queryField } from './fields.ts';
import { memoryFilterSchema } from './memory-filter.ts';

/**
 * What a caller sends to search. A request may name a profile and set the three numbers below; weights, bonuses
 * and decay are the server's, so that scores stay comparable between calls. The core checks the numbers
 * together with the profile's own.
 */
export const recallRequestSchema = z
  .strictObject({
    query: queryField.optional(),
    namespaces: namespacesField.optional(),
    filter: memoryFilterSchema.optional(),
    profile: z.string().meta({ description: 'Name of a ranking profile.', example: 'boosted' }).optional(),
    top_k: z
      .number()
      .meta({ type: 'integer', minimum: MIN_TOP_K, maximum: MAX_TOP_K, description: 'How many hits.' })
      .optional(),
    min_score: z
      .number()
      .meta({ minimum: 0, description: 'Floor on the score. 0 lets all pass.' })
      .optional(),
    relative_cutoff: z
      .number()
      .meta({ minimum: 0, maximum: 1, description: 'Floor as a fraction of the best score. 0 disables.' })
      .optional(),
    explain: z.boolean().meta({ description: 'Whether to answer the trace too. Default false.' }).optional(),
  })
  .transform(({ top_k: topK, min_score: minScore, relative_cutoff: relativeCutoff, ...same }) => ({
    ...same,
    topK,
    minScore,
    relativeCutoff,
  }));
