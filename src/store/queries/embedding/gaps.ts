import type { EntryEmbedding, GapReason } from '../../../core/types.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';

/** Entries without a vector under a model they are kept under, as writes make and end them. */

export interface NewGap {
  readonly memoryId: string;
  readonly namespace: string;
  readonly modelId: string;
  readonly reason: Exclude<GapReason, 'refused'>;
}

/**
 * Notes what has no vector. A gap that is there stays as it is, since the text is the same: it may be claimed at
 * this moment. Only that there is nothing to embed is news.
 */
export function insertGaps(tenantId: string, gaps: readonly NewGap[]): SqlStatement {
  return {
    text: `INSERT INTO app.embedding_gaps AS g (tenant_id, model_id, memory_id, namespace, reason)
      SELECT $1, r.model_id, r.memory_id, r.namespace, r.reason
      FROM unnest($2::text[], $3::uuid[], $4::text[], $5::text[]) AS r (model_id, memory_id, namespace, reason)
      WHERE NOT EXISTS (SELECT FROM app.memory_embeddings AS e
        WHERE e.tenant_id = $1 AND e.model_id = r.model_id AND e.memory_id = r.memory_id)
      ON CONFLICT (tenant_id, model_id, memory_id) DO UPDATE
        SET reason = 'empty', claim_id = NULL, claimed_until = NULL, error = NULL
        WHERE excluded.reason = 'empty' AND g.reason <> 'empty'`,
    values: [
      tenantId,
      gaps.map(({ modelId }) => modelId),
      gaps.map(({ memoryId }) => memoryId),
      gaps.map(({ namespace }) => namespace),
      gaps.map(({ reason }) => reason),
    ],
  };
}

/** Ends the gaps of entries that have just got a vector. */
export function deleteFilledGaps(
  tenantId: string,
  filled: readonly { readonly memoryId: string; readonly modelId: string }[],
): SqlStatement {
  return {
    text: `DELETE FROM app.embedding_gaps AS g USING unnest($2::uuid[], $3::text[]) AS r (memory_id, model_id)
      WHERE g.tenant_id = $1 AND g.memory_id = r.memory_id AND g.model_id = r.model_id`,
    values: [tenantId, filled.map(({ memoryId }) => memoryId), filled.map(({ modelId }) => modelId)],
  };
}

/** Removes every gap of an entry: its text is another one now, or gone. */
export function deleteGapsOf(tenantId: string, memoryId: string): SqlStatement {
  return {
    text: 'DELETE FROM app.embedding_gaps WHERE tenant_id = $1 AND memory_id = $2::uuid',
    values: [tenantId, memoryId],
  };
}

/** Most waiting entries that are counted: a search only says that there are some, and about how many. */
const MAX_COUNTED = 1000;

/** How many entries of some namespaces wait for a vector under a model, at most `MAX_COUNTED`. */
export function countWaiting(tenantId: string, modelId: string, namespaces: readonly string[]): SqlStatement {
  return {
    text: `SELECT count(*) AS waiting FROM (SELECT FROM app.embedding_gaps
      WHERE tenant_id = $1 AND model_id = $2 AND reason = 'waiting' AND namespace = ANY($3::text[])
      LIMIT ${MAX_COUNTED}) AS counted`,
    values: [tenantId, modelId, namespaces],
  };
}

export interface EntryEmbeddingRow extends SqlRow {
  model_id: string;
  coverage: EntryEmbedding['coverage'];
}

/** What an entry has under each model: a vector, or why there is none. A vector that is to be renewed is a vector. */
export function selectEntryEmbeddings(tenantId: string, memoryId: string): SqlStatement {
  return {
    text: `SELECT model_id, coverage FROM app.memory_embeddings WHERE tenant_id = $1 AND memory_id = $2::uuid
      UNION ALL
      SELECT g.model_id, g.reason FROM app.embedding_gaps AS g WHERE g.tenant_id = $1 AND g.memory_id = $2::uuid
        AND NOT EXISTS (SELECT FROM app.memory_embeddings AS e
          WHERE e.tenant_id = $1 AND e.model_id = g.model_id AND e.memory_id = g.memory_id)`,
    values: [tenantId, memoryId],
  };
}
