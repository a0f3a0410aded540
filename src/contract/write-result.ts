import { z } from 'zod';
import type { WriteResult } from '../core/types.ts';
import { shownEntry, wireEntrySchema } from './memory-entry.ts';
import { type InCode, toWire } from './wire-form.ts';

/** How a write ended: a new entry, or the live one of the same namespace and content renewed. */
export const wireWriteResultSchema = z
  .strictObject({ operation: z.enum(['create', 'refresh']), entry: wireEntrySchema })
  .meta({ id: 'WriteResult' });

export const wireBatchResultSchema = z
  .strictObject({ results: z.array(wireWriteResultSchema) })
  .meta({ id: 'BatchResult' });

export type WireWriteResult = z.input<typeof wireWriteResultSchema>;
export type ShownWriteResult = InCode<typeof wireWriteResultSchema>;

/** @param now - Milliseconds since the epoch. */
export function shownWriteResult({ operation, entry }: WriteResult, now: number): ShownWriteResult {
  return { operation, entry: shownEntry(entry, now) };
}

/** @param now - Milliseconds since the epoch. */
export function toWireWriteResult(result: WriteResult, now: number): WireWriteResult {
  return toWire(wireWriteResultSchema, shownWriteResult(result, now));
}
