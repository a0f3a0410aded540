import { z } from 'zod';
import { wireEntrySchema } from '../memory-entry.ts';

/** What tools answer: of an entry what a model can use, and no more, since it pays for each word of it. */

/** Tokens of an answer that a model is not asked to spare. */
export const DEFAULT_TOOL_TOKEN_BUDGET = 4000;
/** Room for the answer's frame and some dozen ids. */
export const MIN_TOOL_TOKEN_BUDGET = 500;
export const MAX_TOOL_TOKEN_BUDGET = 100_000;

export const toolTokenBudgetField = z
  .int()
  .min(MIN_TOOL_TOKEN_BUDGET)
  .max(MAX_TOOL_TOKEN_BUDGET)
  .meta({
    description: `Most tokens the answer may take, default ${DEFAULT_TOOL_TOKEN_BUDGET}. What does not fit comes with next_cursor.`,
  })
  .optional();

export const toolCursorField = z
  .string()
  .meta({ description: 'next_cursor of the answer before, with otherwise the same arguments.' })
  .optional();

export const memoryIdField = z.string().meta({ description: 'Id of a memory, as an answer gave it.' });

/** An entry without its text: what becomes of a write the model itself made. */
export const toolReceiptSchema = wireEntrySchema.pick({
  id: true,
  namespace: true,
  type: true,
  importance: true,
  status: true,
  lifecycle: true,
  superseded_by: true,
  created_at: true,
  updated_at: true,
  expires_at: true,
});

export const toolEntrySchema = toolReceiptSchema.extend({
  content: z.string(),
  tags: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()),
  observed_at: wireEntrySchema.shape.observed_at,
});

export const toolLeftOutField = z
  .array(
    z.strictObject({
      id: z.string(),
      tokens: z.int().meta({ description: 'What it would take by itself.' }),
      reason: z.literal('token_budget'),
    }),
  )
  .meta({
    description:
      'Memories that are larger than the whole budget. Read one as the resource palimpsest://memory/{id}, or ask with a larger token_budget.',
  });

export const toolNextCursorField = z
  .string()
  .nullable()
  .meta({ description: 'Send it as cursor for the rest. Null where there is none.' });
