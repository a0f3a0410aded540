import { z } from 'zod';
import { invalidInput } from '../core/errors.ts';
import type { MemoryEntry } from '../core/types.ts';
import { byRule } from './by-rule.ts';
import { unplacedDraftSchema } from './memory-draft.ts';
import { shownEntry, wireEntrySchema } from './memory-entry.ts';
import type { InCode } from './wire-form.ts';

/** An entry that exists. */
export const existingEntrySchema = z.strictObject({ id: z.string() });

/** The new side of a supersession: an entry to write, or the id of one that exists. */
export const supersedeRequestSchema = z
  .strictObject({
    draft: unplacedDraftSchema.optional(),
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

export const wireSupersedeResultSchema = z
  .strictObject({ superseded: wireEntrySchema, successor: wireEntrySchema })
  .meta({ id: 'SupersedeResult' });

/** @param now - Milliseconds since the epoch. */
export function shownSupersedeResult(
  result: { readonly superseded: MemoryEntry; readonly successor: MemoryEntry },
  now: number,
): InCode<typeof wireSupersedeResultSchema> {
  return {
    superseded: shownEntry(result.superseded, now),
    successor: shownEntry(result.successor, now),
  };
}
