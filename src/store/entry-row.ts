import type { JsonObject, MemoryEntry, MemoryStatus } from '../core/types.ts';
import type { SqlRow } from './sql-database.ts';

/** A row of `app.memories`, as both drivers deliver it. */
export interface EntryRow extends SqlRow {
  tenant_id: string;
  id: string;
  namespace: string;
  owner_id: string | null;
  created_by: string;
  type: string;
  content: string;
  content_hash: string;
  metadata: JsonObject;
  tags: string[];
  source_kind: string | null;
  source_ref: string | null;
  importance: number;
  status: MemoryStatus;
  confirmed_at: Date | null;
  confirmed_by: string | null;
  superseded_by: string | null;
  superseded_at: Date | null;
  observed_at: Date | null;
  created_at: Date;
  updated_at: Date;
  expires_at: Date | null;
  deleted_at: Date | null;
  access_count: number;
  validated_access_count: number;
  version: number;
}

/** Columns of an entry, for SELECT and RETURNING. `is_global` is the policies' own. */
export const ENTRY_COLUMNS = [
  'tenant_id',
  'id',
  'namespace',
  'owner_id',
  'created_by',
  'type',
  'content',
  'content_hash',
  'metadata',
  'tags',
  'source_kind',
  'source_ref',
  'importance',
  'status',
  'confirmed_at',
  'confirmed_by',
  'superseded_by',
  'superseded_at',
  'observed_at',
  'created_at',
  'updated_at',
  'expires_at',
  'deleted_at',
  'access_count',
  'validated_access_count',
  'version',
]
  .map((column) => `m.${column}`)
  .join(', ');

export function toEntry(row: EntryRow): MemoryEntry {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    ownerId: row.owner_id,
    createdBy: row.created_by,
    namespace: row.namespace,
    type: row.type,
    content: row.content,
    contentHash: row.content_hash,
    metadata: row.metadata,
    tags: row.tags,
    source: row.source_kind === null ? null : { kind: row.source_kind, ref: row.source_ref ?? undefined },
    importance: row.importance,
    status: row.status,
    confirmedAt: row.confirmed_at,
    confirmedBy: row.confirmed_by,
    supersededBy: row.superseded_by,
    supersededAt: row.superseded_at,
    observedAt: row.observed_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    deletedAt: row.deleted_at,
    accessCount: row.access_count,
    validatedAccessCount: row.validated_access_count,
    version: row.version,
  };
}
