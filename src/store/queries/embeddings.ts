import type { Embedding } from '../../core/ports.ts';
import type { SqlStatement } from '../sql-database.ts';
import { sqlTime } from '../sql-parameters.ts';
import { vectorLiteral } from '../vector-literal.ts';

/** The vectors of one entry. */
export interface EntryEmbeddings {
  readonly memoryId: string;
  readonly namespace: string;
  readonly embeddings: readonly Embedding[];
}

/** Stores vectors, replacing those an entry has under the same model. Null when there are none. */
export function upsertEmbeddings(tenantId: string, entries: readonly EntryEmbeddings[]): SqlStatement | null {
  const ids: string[] = [];
  const models: string[] = [];
  const namespaces: string[] = [];
  const dense: (string | null)[] = [];
  const sparse: (string | null)[] = [];
  const coverages: string[] = [];
  for (const entry of entries) {
    for (const { modelId, vector, coverage } of entry.embeddings) {
      if (vector === null) continue;
      const literal = vectorLiteral(vector);
      ids.push(entry.memoryId);
      models.push(modelId);
      namespaces.push(entry.namespace);
      dense.push(literal.sparse ? null : literal.text);
      sparse.push(literal.sparse ? literal.text : null);
      coverages.push(coverage ?? 'whole');
    }
  }
  if (ids.length === 0) return null;
  return {
    text: `INSERT INTO app.memory_embeddings AS e (tenant_id, model_id, memory_id, namespace, embedding, coverage)
      SELECT $1, r.model_id, r.memory_id, r.namespace, coalesce(r.dense::vector, r.sparse::sparsevec::vector),
        r.coverage
      FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
        AS r (memory_id, model_id, namespace, dense, sparse, coverage)
      ON CONFLICT (tenant_id, model_id, memory_id) DO UPDATE SET embedding = excluded.embedding, coverage = excluded.coverage`,
    values: [tenantId, ids, models, namespaces, dense, sparse, coverages],
  };
}

/** Removes what an entry has under other models than those named: vectors of a text that is gone. None named: all. */
export function deleteOtherEmbeddings(
  tenantId: string,
  memoryId: string,
  keptModels: readonly string[],
): SqlStatement {
  return {
    text: `DELETE FROM app.memory_embeddings WHERE tenant_id = $1 AND memory_id = $2::uuid
      AND model_id <> ALL($3::text[])`,
    values: [tenantId, memoryId, keptModels],
  };
}

export function insertModel(
  tenantId: string,
  modelId: string,
  dimensions: number,
  now: number,
): SqlStatement {
  return {
    text: `INSERT INTO app.embedding_models (tenant_id, model_id, dimensions, created_at)
      VALUES ($1, $2, $3, $4::timestamptz) ON CONFLICT DO NOTHING`,
    values: [tenantId, modelId, dimensions, sqlTime(now)],
  };
}
