import { z } from 'zod';
import type { HistoryChain } from '../core/ports.ts';
import { shownEntry, wireEntrySchema } from './memory-entry.ts';
import type { InCode } from './wire-form.ts';

/** A chain of supersession. */
export const wireHistorySchema = z
  .strictObject({
    entries: z.array(wireEntrySchema).meta({ description: 'Oldest first.' }),
    missing: z.array(z.string()).meta({ description: 'Ids of purged successors.' }),
  })
  .meta({ id: 'History' });

/** @param now - Milliseconds since the epoch. */
export function shownHistory(
  { entries, missing }: HistoryChain,
  now: number,
): InCode<typeof wireHistorySchema> {
  return { entries: entries.map((entry) => shownEntry(entry, now)), missing };
}
