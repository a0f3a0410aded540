import type { SqlStatement } from '../../sql-database.ts';
import { sqlTime } from '../../sql-parameters.ts';
import { vectorLiteral } from '../../vector-literal.ts';
import { lifeCondition } from '../life-condition.ts';
import type { JobScope } from './jobs.ts';

/** What the check before a switch reads. */

/** Entries of a scope in an order that looks like chance and is the same for the same seed. */
export function selectSample(tenantId: string, scope: JobScope, count: number, seed: string): SqlStatement {
  return {
    text: `SELECT m.id AS memory_id, m.namespace, m.content_hash, m.content, m.type, m.metadata, m.source_kind,
        m.source_ref
      FROM app.memories AS m
      WHERE m.tenant_id = $1 AND m.namespace ~ $2 AND m.namespace !~ $3
        AND m.deleted_at IS NULL AND m.superseded_by IS NULL
      ORDER BY md5(m.id::text || $4), m.id LIMIT $5::bigint`,
    values: [tenantId, scope.within, scope.without, seed, count],
  };
}

/** The nearest entries under one model, by an exact scan of the scope. */
export function selectNearestIds(
  tenantId: string,
  scope: JobScope,
  query: {
    readonly modelId: string;
    readonly vector: Float32Array;
    readonly k: number;
    readonly now: number;
  },
): SqlStatement {
  const { text, sparse } = vectorLiteral(query.vector);
  return {
    text: `SELECT m.id FROM app.memory_embeddings AS e
      JOIN app.memories AS m ON m.tenant_id = $1 AND m.id = e.memory_id AND ${lifeCondition('live', '$7')}
      WHERE e.tenant_id = $1 AND e.model_id = $2 AND e.namespace ~ $3 AND e.namespace !~ $4
      ORDER BY e.embedding <=> $5${sparse ? '::sparsevec::vector' : '::vector'}, m.id LIMIT $6::bigint`,
    values: [tenantId, query.modelId, scope.within, scope.without, text, query.k, sqlTime(query.now)],
  };
}
