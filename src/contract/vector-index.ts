import { z } from 'zod';
import type { VectorIndex } from '../core/vector-index.ts';
import { toWire } from './wire-form.ts';

/** An approximate index of vectors, as faces show it. */
export const wireVectorIndexSchema = z
  .strictObject({
    name: z.string(),
    model_id: z.string(),
    dimensions: z.int(),
    indexed_as: z.enum(['vector', 'halfvec']),
    m: z.int(),
    ef_construction: z.int(),
    state: z.enum(['valid', 'building', 'invalid']),
    bytes: z.int(),
    progress: z.strictObject({ phase: z.string(), share: z.number().nullable() }).nullable(),
  })
  .meta({ id: 'VectorIndex' });

export type WireVectorIndex = z.input<typeof wireVectorIndexSchema>;

export function toWireVectorIndex(index: VectorIndex): WireVectorIndex {
  return toWire(wireVectorIndexSchema, index);
}
