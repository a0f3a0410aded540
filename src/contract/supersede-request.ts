import { z } from 'zod';
import { invalidInput } from '../core/errors.ts';
import { byRule } from './by-rule.ts';
import { memoryDraftSchema } from './memory-draft.ts';

/** An entry that exists. */
export const existingEntrySchema = z.strictObject({ id: z.string() });

/** The new side of a supersession: an entry to write, or the id of one that exists. */
export const supersedeRequestSchema = z
  .strictObject({
    draft: memoryDraftSchema.optional(),
    id: z.string().meta({ description: 'Id of an entry that exists.' }).optional(),
  })
  .transform(
    byRule(({ draft, id }) => {
      if (draft !== undefined && id === undefined) return { draft };
      if (id !== undefined && draft === undefined) return { id };
      throw invalidInput(
        'A supersession needs either draft, the entry to write, or id, the entry that exists.',
        {
          allowed: 'draft or id, one of them',
        },
      );
    }, 'draft'),
  );
