import { z } from 'zod';
import { lifecycleOf } from '../core/lifecycle.ts';
import type { MemoryEntry } from '../core/types.ts';
import { jsonObjectSchema } from './json-value.ts';
import { MEMORY_STATUSES } from './memory-filter.ts';
import { type InCode, toWire } from './wire-form.ts';
import { wireInstant } from './wire-instant.ts';

/** An entry as every face shows it in JSON. */
export const wireEntrySchema = z
  .strictObject({
    id: z.string().meta({ format: 'uuid' }),
    tenant_id: z.string(),
    owner_id: z
      .string()
      .nullable()
      .meta({ description: 'The user its namespace belongs to; null: the tenant.' }),
    created_by: z.string(),
    namespace: z.string(),
    type: z.string(),
    content: z.string(),
    content_hash: z.string().meta({ description: 'SHA-256 of the content as UTF-8, in hex.' }),
    metadata: jsonObjectSchema,
    tags: z.array(z.string()),
    source: z.strictObject({ kind: z.string(), ref: z.string().optional() }).nullable(),
    importance: z.number(),
    status: z.enum(MEMORY_STATUSES),
    lifecycle: z.enum(['live', 'superseded', 'expired', 'deleted']),
    confirmed_at: wireInstant.nullable(),
    confirmed_by: z.string().nullable(),
    superseded_by: z.string().nullable(),
    superseded_at: wireInstant.nullable(),
    observed_at: wireInstant.nullable(),
    created_at: wireInstant,
    updated_at: wireInstant.meta({
      description: 'Last change of content, or last repeated write of the same content.',
    }),
    expires_at: wireInstant.nullable(),
    deleted_at: wireInstant.nullable(),
    access_count: z.int(),
    validated_access_count: z.int(),
    version: z.int().meta({ description: 'Rises with every change of the entry; its ETag.' }),
    embedding: z
      .strictObject({
        model_id: z.string(),
        coverage: z.enum(['whole', 'chunked', 'truncated', 'waiting', 'empty', 'refused']).meta({
          description:
            'How much of the text the vector stands for, or why there is none: it is still to be made (waiting), there is nothing to embed (empty), the model refuses the text (refused).',
        }),
      })
      .nullable()
      .optional()
      .meta({
        description:
          'What the entry has under the model that searches in its namespace use; null where there is no such model. Only where one entry is read by its id.',
      }),
  })
  .meta({ id: 'MemoryEntry' });

export type WireEntry = z.input<typeof wireEntrySchema>;
/** An entry, and the part of its life it was in when it was shown. */
export type ShownEntry = InCode<typeof wireEntrySchema>;

/** @param now - Milliseconds since the epoch: whether the entry has expired is said as of then. */
export function shownEntry(entry: MemoryEntry, now: number): ShownEntry {
  return { ...entry, lifecycle: lifecycleOf(entry, now) };
}

/** @param now - Milliseconds since the epoch. */
export function toWireEntry(entry: MemoryEntry, now: number): WireEntry {
  return toWire(wireEntrySchema, shownEntry(entry, now));
}
