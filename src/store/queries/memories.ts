import { DEFAULT_IMPORTANCE, DEFAULT_TYPE } from '../../core/defaults.ts';
import type { PreparedDraft } from '../../core/ports.ts';
import type { MemoryPatch, MemoryStatus } from '../../core/types.ts';
import { ENTRY_COLUMNS } from '../entry-row.ts';
import type { SqlStatement } from '../sql-database.ts';
import { SqlParameters, sqlTime } from '../sql-parameters.ts';

/** A draft with the id it gets if it turns out to be new. */
export interface NewMemory {
  readonly id: string;
  readonly prepared: PreparedDraft;
  /** Version of its namespace after `touchNamespaces`. */
  readonly version: number;
}

/**
 * Writes a batch in one statement. Content that a live entry of the same namespace holds refreshes that
 * entry; of the fields the caller may leave out, only those that were sent are taken over (a draft's row
 * is recognised by the id it would have got).
 *
 * An expired entry is still in the unique index (an index can't know the time), so writing its content again
 * renews it: without an expiry of its own, the write takes the old one away and the text is found again.
 */
export function upsertMemories(
  tenantId: string,
  userId: string,
  memories: readonly NewMemory[],
  now: number,
): SqlStatement {
  const idsThatSay = (field: 'type' | 'source' | 'importance' | 'observedAt' | 'expiresAt') =>
    memories.filter(({ prepared }) => prepared.draft[field] !== undefined).map(({ id }) => id);
  return {
    text: `INSERT INTO app.memories AS m (
        tenant_id, id, namespace, created_by, type, content, content_hash, metadata, tags, source_kind, source_ref,
        importance, status, observed_at, created_at, updated_at, expires_at, version)
      SELECT $1, r.id, r.namespace, $2, r.type, r.content, r.content_hash, r.metadata, r.tags, r.source_kind,
        r.source_ref, r.importance, 'unconfirmed', r.observed_at, $3::timestamptz, $3::timestamptz, r.expires_at,
        r.version
      FROM jsonb_to_recordset($4::text::jsonb) AS r (
        id uuid, namespace text, type text, content text, content_hash text, metadata jsonb, tags text[],
        source_kind text, source_ref text, importance double precision, observed_at timestamptz,
        expires_at timestamptz, version bigint)
      ON CONFLICT (tenant_id, namespace, content_hash) WHERE deleted_at IS NULL AND superseded_by IS NULL
      DO UPDATE SET
        updated_at = greatest(m.updated_at, excluded.updated_at),
        version = excluded.version,
        metadata = m.metadata || excluded.metadata,
        tags = ARRAY(SELECT tag FROM unnest(m.tags || excluded.tags) WITH ORDINALITY AS t (tag, place)
          GROUP BY tag ORDER BY min(place)),
        type = CASE WHEN excluded.id = ANY($5::uuid[]) THEN excluded.type ELSE m.type END,
        source_kind = CASE WHEN excluded.id = ANY($6::uuid[]) THEN excluded.source_kind ELSE m.source_kind END,
        source_ref = CASE WHEN excluded.id = ANY($6::uuid[]) THEN excluded.source_ref ELSE m.source_ref END,
        importance = CASE WHEN excluded.id = ANY($7::uuid[]) THEN excluded.importance ELSE m.importance END,
        observed_at = CASE WHEN excluded.id = ANY($8::uuid[]) THEN excluded.observed_at ELSE m.observed_at END,
        expires_at = CASE WHEN excluded.id = ANY($9::uuid[]) THEN excluded.expires_at
          WHEN m.expires_at <= $3::timestamptz THEN NULL ELSE m.expires_at END
      RETURNING ${ENTRY_COLUMNS}`,
    values: [
      tenantId,
      userId,
      sqlTime(now),
      JSON.stringify(memories.map(toRecord)),
      idsThatSay('type'),
      idsThatSay('source'),
      idsThatSay('importance'),
      idsThatSay('observedAt'),
      idsThatSay('expiresAt'),
    ],
  };
}

function toRecord({ id, prepared, version }: NewMemory): Record<string, unknown> {
  const { draft } = prepared;
  return {
    id,
    namespace: draft.namespace,
    type: draft.type ?? DEFAULT_TYPE,
    content: draft.content,
    content_hash: prepared.contentHash,
    metadata: draft.metadata ?? {},
    tags: draft.tags ?? [],
    source_kind: draft.source?.kind ?? null,
    source_ref: draft.source?.ref ?? null,
    importance: draft.importance ?? DEFAULT_IMPORTANCE,
    observed_at: sqlTime(draft.observedAt ?? null),
    expires_at: sqlTime(draft.expiresAt ?? null),
    version,
  };
}

/** Entries by id in any state of their life, as far as the asker may read them. */
export function selectEntries(tenantId: string, ids: readonly string[]): SqlStatement {
  return {
    text: `SELECT ${ENTRY_COLUMNS} FROM app.memories AS m WHERE m.tenant_id = $1 AND m.id = ANY($2::uuid[])`,
    values: [tenantId, ids],
  };
}

/** Where entries are, for work that reads nothing else of them. */
export function selectEntryPlaces(tenantId: string, ids: readonly string[]): SqlStatement {
  return {
    text: 'SELECT id, namespace FROM app.memories WHERE tenant_id = $1 AND id = ANY($2::uuid[]) ORDER BY id',
    values: [tenantId, ids],
  };
}

/** The live entry that holds a content, if the asker may read it. */
export function selectLiveByContent(tenantId: string, namespace: string, contentHash: string): SqlStatement {
  return {
    text: `SELECT ${ENTRY_COLUMNS} FROM app.memories AS m WHERE m.tenant_id = $1 AND m.namespace = $2
      AND m.content_hash = $3 AND m.deleted_at IS NULL AND m.superseded_by IS NULL`,
    values: [tenantId, namespace, contentHash],
  };
}

/** Fields an operation sets on one entry, by column. Times as text. */
export interface EntryChange {
  readonly content?: string;
  readonly content_hash?: string;
  readonly type?: string;
  readonly metadata?: string;
  readonly tags?: readonly string[];
  readonly source_kind?: string | null;
  readonly source_ref?: string | null;
  readonly importance?: number;
  readonly status?: MemoryStatus;
  readonly confirmed_at?: string | null;
  readonly confirmed_by?: string | null;
  readonly superseded_by?: string;
  readonly superseded_at?: string;
  readonly observed_at?: string | null;
  readonly updated_at?: string;
  readonly expires_at?: string | null;
  readonly deleted_at?: string | null;
}

/** How each column's value is cast; also the list of what an update may set. */
const CHANGE_CASTS: Record<keyof EntryChange, string> = {
  content: 'text',
  content_hash: 'text',
  type: 'text',
  metadata: 'text::jsonb',
  tags: 'text[]',
  source_kind: 'text',
  source_ref: 'text',
  importance: 'double precision',
  status: 'text',
  confirmed_at: 'timestamptz',
  confirmed_by: 'text',
  superseded_by: 'uuid',
  superseded_at: 'timestamptz',
  observed_at: 'timestamptz',
  updated_at: 'timestamptz',
  expires_at: 'timestamptz',
  deleted_at: 'timestamptz',
};

/** Sets some fields of one entry, and its version. No row comes back when the asker may not write to it. */
export function updateEntry(
  tenantId: string,
  id: string,
  version: number,
  change: EntryChange,
): SqlStatement {
  const parameters = new SqlParameters();
  const where = `m.tenant_id = ${parameters.bind(tenantId)} AND m.id = ${parameters.bind(id)}::uuid`;
  const assignments = [`version = ${parameters.bind(version)}::bigint`];
  for (const column of Object.keys(CHANGE_CASTS) as (keyof EntryChange)[]) {
    const value = change[column];
    if (value !== undefined) {
      assignments.push(`${column} = ${parameters.bind(value)}::${CHANGE_CASTS[column]}`);
    }
  }
  return parameters.statement(
    `UPDATE app.memories AS m SET ${assignments.join(', ')} WHERE ${where} RETURNING ${ENTRY_COLUMNS}`,
  );
}

/** What a caller's patch sets, apart from what changing the content implies. */
export function changeOfPatch(patch: MemoryPatch): EntryChange {
  return {
    ...(patch.type !== undefined && { type: patch.type }),
    ...(patch.metadata !== undefined && { metadata: JSON.stringify(patch.metadata) }),
    ...(patch.tags !== undefined && { tags: patch.tags }),
    ...(patch.source !== undefined && {
      source_kind: patch.source?.kind ?? null,
      source_ref: patch.source?.ref ?? null,
    }),
    ...(patch.importance !== undefined && { importance: patch.importance }),
    ...(patch.observedAt !== undefined && { observed_at: sqlTime(patch.observedAt) }),
    ...(patch.expiresAt !== undefined && { expires_at: sqlTime(patch.expiresAt) }),
  };
}

/** Removes an entry from disk; its feedback goes with it by foreign key, its vectors by `deleteOtherEmbeddings`. */
export function deleteEntry(tenantId: string, id: string): SqlStatement {
  return {
    text: 'DELETE FROM app.memories WHERE tenant_id = $1 AND id = $2::uuid RETURNING id',
    values: [tenantId, id],
  };
}
