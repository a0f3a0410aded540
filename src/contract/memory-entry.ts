import { z } from 'zod';
import { lifecycleOf } from '../core/lifecycle.ts';
import type { MemoryEntry } from '../core/types.ts';
import { MEMORY_STATUSES } from './memory-filter.ts';

const instant = z.string().meta({ format: 'date-time' });
const jsonObject = z.record(z.string(), z.json());

/** An entry as every face shows it in JSON. */
export const wireEntrySchema = z.strictObject({
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
  metadata: jsonObject,
  tags: z.array(z.string()),
  source: z.strictObject({ kind: z.string(), ref: z.string().optional() }).nullable(),
  importance: z.number(),
  status: z.enum(MEMORY_STATUSES),
  lifecycle: z.enum(['live', 'superseded', 'expired', 'deleted']),
  confirmed_at: instant.nullable(),
  confirmed_by: z.string().nullable(),
  superseded_by: z.string().nullable(),
  superseded_at: instant.nullable(),
  observed_at: instant.nullable(),
  created_at: instant,
  updated_at: instant,
  expires_at: instant.nullable(),
  deleted_at: instant.nullable(),
  access_count: z.int(),
  validated_access_count: z.int(),
  version: z.int(),
});

export type WireEntry = z.output<typeof wireEntrySchema>;

/** @param now - Milliseconds since the epoch: whether the entry has expired is said as of then. */
export function toWireEntry(entry: MemoryEntry, now: number): WireEntry {
  const { source } = entry;
  return {
    id: entry.id,
    tenant_id: entry.tenantId,
    owner_id: entry.ownerId,
    created_by: entry.createdBy,
    namespace: entry.namespace,
    type: entry.type,
    content: entry.content,
    content_hash: entry.contentHash,
    metadata: entry.metadata,
    tags: [...entry.tags],
    source:
      source === null
        ? null
        : { kind: source.kind, ...(source.ref === undefined ? {} : { ref: source.ref }) },
    importance: entry.importance,
    status: entry.status,
    lifecycle: lifecycleOf(entry, now),
    confirmed_at: entry.confirmedAt?.toISOString() ?? null,
    confirmed_by: entry.confirmedBy,
    superseded_by: entry.supersededBy,
    superseded_at: entry.supersededAt?.toISOString() ?? null,
    observed_at: entry.observedAt?.toISOString() ?? null,
    created_at: entry.createdAt.toISOString(),
    updated_at: entry.updatedAt.toISOString(),
    expires_at: entry.expiresAt?.toISOString() ?? null,
    deleted_at: entry.deletedAt?.toISOString() ?? null,
    access_count: entry.accessCount,
    validated_access_count: entry.validatedAccessCount,
    version: entry.version,
  };
}
