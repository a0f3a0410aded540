import type { SqlStatement } from '../../sql-database.ts';

/** Vectors that no search uses and no write keeps. */

export function selectModelIds(tenantId: string): SqlStatement {
  return {
    text: 'SELECT model_id FROM app.embedding_models WHERE tenant_id = $1 ORDER BY model_id COLLATE "C"',
    values: [tenantId],
  };
}

export function countVectors(tenantId: string, modelId: string, namespaces: readonly string[]): SqlStatement {
  return {
    text: `SELECT count(*) AS vectors FROM app.memory_embeddings
      WHERE tenant_id = $1 AND model_id = $2 AND namespace = ANY($3::text[])`,
    values: [tenantId, modelId, namespaces],
  };
}

/** Some at a time, so that no transaction is long. */
export function deleteVectors(
  tenantId: string,
  modelId: string,
  namespaces: readonly string[],
  limit: number,
): SqlStatement {
  return {
    text: `DELETE FROM app.memory_embeddings WHERE tenant_id = $1 AND model_id = $2 AND memory_id = ANY(ARRAY(
        SELECT memory_id FROM app.memory_embeddings
        WHERE tenant_id = $1 AND model_id = $2 AND namespace = ANY($3::text[]) LIMIT $4::bigint))
      RETURNING memory_id`,
    values: [tenantId, modelId, namespaces, limit],
  };
}

export function deleteGaps(tenantId: string, modelId: string, namespaces: readonly string[]): SqlStatement {
  return {
    text: `DELETE FROM app.embedding_gaps
      WHERE tenant_id = $1 AND model_id = $2 AND namespace = ANY($3::text[])`,
    values: [tenantId, modelId, namespaces],
  };
}
