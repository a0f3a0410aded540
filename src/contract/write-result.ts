import { z } from 'zod';
import type { WriteResult } from '../core/types.ts';
import { toWireEntry, wireEntrySchema } from './memory-entry.ts';

/** How a write ended: a new entry, or the live one of the same namespace and content renewed. */
export const wireWriteResultSchema = z.strictObject({
  operation: z.enum(['create', 'refresh']),
  entry: wireEntrySchema,
});

export const wireBatchResultSchema = z.strictObject({ results: z.array(wireWriteResultSchema) });

export type WireWriteResult = z.output<typeof wireWriteResultSchema>;

export function toWireWriteResult({ operation, entry }: WriteResult, now: number): WireWriteResult {
  return { operation, entry: toWireEntry(entry, now) };
}
