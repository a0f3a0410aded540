import { z } from 'zod';
import type { ListPage } from '../core/ports.ts';
import { encodeListCursor } from './list-cursor.ts';
import { toWireEntry, wireEntrySchema } from './memory-entry.ts';

export const wireListPageSchema = z.strictObject({
  entries: z.array(wireEntrySchema),
  next_cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
});

export type WireListPage = z.output<typeof wireListPageSchema>;

export function toWireListPage({ entries, next }: ListPage, now: number): WireListPage {
  return {
    entries: entries.map((entry) => toWireEntry(entry, now)),
    next_cursor: next === null ? null : encodeListCursor(next),
  };
}
