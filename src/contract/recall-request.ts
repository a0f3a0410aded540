import { z } from 'zod';
import { MAX_TOP_K, MIN_TOP_K } from '../core/defaults.ts';
import { namespacesField, queryField } from './fields.ts';
import { memoryFilterSchema } from './memory-filter.ts';

export const recallShape = {
  query: queryField.optional(),
  namespaces: namespacesField.optional(),
  filter: memoryFilterSchema.optional(),
  profile: z.string().meta({ description: 'Name of a ranking profile.', example: 'boosted' }).optional(),
  top_k: z
    .number()
    .meta({ type: 'integer', minimum: MIN_TOP_K, maximum: MAX_TOP_K, description: 'How many hits.' })
    .optional(),
  min_score: z.number().meta({ minimum: 0, description: 'Floor on the score. 0 lets all pass.' }).optional(),
  relative_cutoff: z
    .number()
    .meta({ minimum: 0, maximum: 1, description: 'Floor as a fraction of the best score. 0 disables.' })
    .optional(),
};

/**
 * What a caller sends to search. A request may name a profile and set the three numbers above; weights, bonuses
 * and decay are the server's, so that scores stay comparable between calls. The core checks the numbers
 * together with the profile's own.
 */
export const recallRequestSchema = z
  .strictObject({
    ...recallShape,
    explain: z.boolean().meta({ description: 'Whether to answer the trace too. Default false.' }).optional(),
  })
  .transform(inCode);

/** The same where the trace is always answered: in the library. */
export const tracedRecallRequestSchema = z.strictObject(recallShape).transform(inCode);

function inCode<Fields extends z.output<z.ZodObject<typeof recallShape>>>(fields: Fields) {
  const { top_k: topK, min_score: minScore, relative_cutoff: relativeCutoff, ...same } = fields;
  return { ...same, topK, minScore, relativeCutoff };
}
