import { createHash } from 'node:crypto';
import { escapeLiteral } from 'pg';
import {
  type HnswSearchOptions,
  type IndexedAs,
  indexedAs,
  type NewVectorIndex,
  type VectorIndex,
} from '../../core/vector-index.ts';
import type { SqlRow, SqlStatement } from '../sql-database.ts';

/** Approximate indexes: one per model, a partial one, over the vectors in the length they all have. */

const PREFIX = 'memory_embeddings_hnsw_';

/** A model's id can be longer than a name in PostgreSQL, and hold anything. */
export function vectorIndexName(modelId: string): string {
  return `${PREFIX}${createHash('sha256').update(modelId).digest('hex').slice(0, 16)}`;
}

/** The expression that is indexed, and that a query has to order by, such as `embedding::vector(384)`. */
export function indexedExpression(dimensions: number): string {
  return `embedding::${indexedAs(dimensions)}(${dimensions})`;
}

/** `CONCURRENTLY` has to stand outside of any transaction, and takes no parameters. */
export function createVectorIndex({ modelId, dimensions, m, efConstruction }: NewVectorIndex): string {
  const operators = `${indexedAs(dimensions)}_cosine_ops`;
  return `CREATE INDEX CONCURRENTLY ${vectorIndexName(modelId)} ON app.memory_embeddings
    USING hnsw ((${indexedExpression(dimensions)}) ${operators})
    WITH (m = ${Math.trunc(m)}, ef_construction = ${Math.trunc(efConstruction)})
    WHERE model_id = ${escapeLiteral(modelId)}`;
}

export function dropVectorIndex(name: string): string {
  return `DROP INDEX CONCURRENTLY IF EXISTS app.${name}`;
}

export interface VectorIndexRow extends SqlRow {
  name: string;
  predicate: string | null;
  definition: string;
  is_valid: boolean;
  bytes: number;
  phase: string | null;
  done: number | null;
  total: number | null;
}

/** Every index of ours, whether it is of use or not. */
export function selectVectorIndexes(): SqlStatement {
  return {
    text: `SELECT c.relname::text AS name, pg_get_expr(i.indpred, i.indrelid) AS predicate,
        pg_get_indexdef(i.indexrelid) AS definition, i.indisvalid AND i.indisready AS is_valid,
        pg_relation_size(i.indexrelid) AS bytes, p.phase,
        CASE WHEN p.tuples_total > 0 THEN p.tuples_done ELSE p.blocks_done END AS done,
        CASE WHEN p.tuples_total > 0 THEN p.tuples_total ELSE p.blocks_total END AS total
      FROM pg_index AS i
      JOIN pg_class AS c ON c.oid = i.indexrelid
      JOIN pg_am AS a ON a.oid = c.relam AND a.amname = 'hnsw'
      JOIN pg_class AS t ON t.oid = i.indrelid AND t.relname = 'memory_embeddings'
      JOIN pg_namespace AS n ON n.oid = t.relnamespace AND n.nspname = 'app'
      LEFT JOIN pg_stat_progress_create_index AS p ON p.index_relid = i.indexrelid
      WHERE starts_with(c.relname::text, $1)
      ORDER BY c.relname`,
    values: [PREFIX],
  };
}

/** Null for an index that is not of the form that `createVectorIndex` gives. */
export function toVectorIndex(row: VectorIndexRow): VectorIndex | null {
  const modelId = /^\(model_id = '(.*)'::text\)$/s.exec(row.predicate ?? '')?.[1]?.replaceAll("''", "'");
  const type = /\(embedding\)::(vector|halfvec)\((\d+)\)/.exec(row.definition);
  if (modelId === undefined || type === null) return null;
  const parameter = (name: string) =>
    Number(new RegExp(`[( ]${name}='(\\d+)'`).exec(row.definition)?.[1] ?? Number.NaN);
  return {
    name: row.name,
    modelId,
    dimensions: Number(type[2]),
    indexedAs: type[1] as IndexedAs,
    m: parameter('m'),
    efConstruction: parameter('ef_construction'),
    state: row.is_valid ? 'valid' : row.phase === null ? 'invalid' : 'building',
    bytes: row.bytes,
    progress:
      row.phase === null
        ? null
        : {
            phase: row.phase,
            share: row.done === null || row.total === null || row.total === 0 ? null : row.done / row.total,
          },
  };
}

/** Models that have an index of use, with its dimensions. */
export function selectIndexedModels(): SqlStatement {
  const { text, values } = selectVectorIndexes();
  return { text: `SELECT * FROM (${text}) AS indexes WHERE is_valid`, values };
}

/** How many vectors a scope has, counted up to `limit`. */
export function countVectors(
  tenantId: string,
  modelId: string,
  namespaces: readonly string[],
  limit: number,
): SqlStatement {
  return {
    text: `SELECT count(*)::integer AS vectors FROM (SELECT 1 FROM app.memory_embeddings
      WHERE tenant_id = $1 AND model_id = $2 AND namespace = ANY($3::text[]) LIMIT $4) AS counted`,
    values: [tenantId, modelId, namespaces, limit],
  };
}

/**
 * For this transaction alone. That the scope is large was counted; PostgreSQL guesses it from row-level security's
 * functions, whose selectivity it does not know: it took a scope of 3,000 for one row, and sorted. So sorting is made
 * dear until `endHnswSearch`. A plan as dear as that would be compiled, for a second, before it runs for milliseconds.
 */
export function beginHnswSearch(options: HnswSearchOptions): SqlStatement {
  return {
    text: `SELECT set_config('hnsw.ef_search', $1, true), set_config('hnsw.iterative_scan', $2, true),
      set_config('hnsw.max_scan_tuples', $3, true), set_config('enable_sort', 'off', true),
      set_config('jit', 'off', true)`,
    values: [String(options.efSearch), options.iterativeScan, String(options.maxScanTuples)],
  };
}

/** Compiling stays off until the transaction ends: nothing that follows is worth it. */
export function endHnswSearch(): SqlStatement {
  return { text: 'SET LOCAL enable_sort TO DEFAULT', values: [] };
}
