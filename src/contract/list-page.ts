import { z } from 'zod';
import type { ListPage } from '../core/ports.ts';
import { encodeListCursor } from './list-cursor.ts';
import { shownEntry, wireEntrySchema } from './memory-entry.ts';
import { type InCode, toWire } from './wire-form.ts';

export const nextCursorField = z
  .string()
  .nullable()
  .meta({ description: 'Send it as cursor for the next page. Null on the last one.' });

export const wireListPageSchema = z
  .strictObject({ entries: z.array(wireEntrySchema), next_cursor: nextCursorField })
  .meta({ id: 'EntryPage' });

export type WireListPage = z.input<typeof wireListPageSchema>;
export type ShownListPage = InCode<typeof wireListPageSchema>;

/** @param now - Milliseconds since the epoch. */
export function shownListPage({ entries, next }: ListPage, now: number): ShownListPage {
  return {
    entries: entries.map((entry) => shownEntry(entry, now)),
    nextCursor: next === null ? null : encodeListCursor(next),
  };
}

/** @param now - Milliseconds since the epoch. */
export function toWireListPage(page: ListPage, now: number): WireListPage {
  return toWire(wireListPageSchema, shownListPage(page, now));
}
