import type { BoundFactor, CandidateQuery } from '../../core/ports.ts';
import type { SqlRow, SqlStatement } from '../sql-database.ts';
import { SqlParameters, sqlTime } from '../sql-parameters.ts';
import { vectorLiteral } from '../vector-literal.ts';
import { filterConditions } from './filter-condition.ts';
import { lifeCondition } from './life-condition.ts';
import { indexedExpression } from './vector-index.ts';

/**
 * Statements that find candidates. Ordering is by distance or time alone: a formula in
 * ORDER BY would be a second home of the ranking, and `extract(epoch …)` in it took ten times as long as
 * the scan (DESIGN: 58 ms against 5.6 ms for 10,000 rows).
 */

/** One candidate's factors, without its similarity. */
export interface FactorRow extends SqlRow {
  id: string;
  namespace: string;
  content_hash: string;
  updated_at: Date;
  importance: number;
  access_count: number;
  validated_access_count: number;
}

export interface CandidateRow extends FactorRow {
  /** pgvector's cosine distance; null without a query or without a vector. */
  distance: number | null;
}

/** A nearest vector; the entry's columns are null when the entry is not live (or not readable). */
export type NearestRow = { distance: number } & (
  | CandidateRow
  | ({ [Column in keyof Omit<CandidateRow, 'distance'>]: null } & SqlRow)
);

export const FACTOR_COLUMNS =
  'm.id, m.namespace, m.content_hash, m.updated_at, m.importance, m.access_count, m.validated_access_count';

/** A query that has a vector to measure with. */
export type MeasuredQuery = CandidateQuery & {
  readonly query: { readonly modelId: string; readonly vector: Float32Array };
};

/**
 * The `limit` nearest vectors of the namespaces first, then their entries: one narrow scan and `limit`
 * look-ups, a third of the time of joining the whole scope. Vectors of dead entries take places, which the
 * caller sees by the null columns; the last distance bounds everything outside all the same.
 *
 * The look-up is fenced by OFFSET 0, apart from the life conditions: on tables without statistics (just after an
 * import) the planner took the partial index of live contents for it and walked the tenant once per row, 80 ms
 * instead of 8.
 *
 * `byIndex` orders by the very expression that the model's index has, without which PostgreSQL does not use it. The
 * distance is measured by the stored vector all the same.
 */
export function selectNearest(tenantId: string, query: MeasuredQuery, byIndex = false): SqlStatement {
  const parameters = new SqlParameters();
  const tenant = parameters.bind(tenantId);
  const live = lifeCondition('live', parameters.bind(sqlTime(query.now)));
  const measured = distances(query, tenant, parameters);
  const order = byIndex ? indexedOrder(query, parameters) : 'distance';
  return parameters.statement(
    `SELECT ${FACTOR_COLUMNS}, e.distance
      FROM (${measured} ORDER BY ${order} LIMIT ${parameters.bind(query.limit)}::bigint) AS e
      LEFT JOIN LATERAL (SELECT * FROM app.memories WHERE tenant_id = ${tenant} AND id = e.memory_id OFFSET 0) AS m
        ON ${live}
      ORDER BY e.distance, m.id`,
  );
}

/** The `limit` nearest entries of a filtered scope, entries without a vector last; newest first without a query. */
export function selectScoped(tenantId: string, query: CandidateQuery): SqlStatement {
  const parameters = new SqlParameters();
  const tenant = parameters.bind(tenantId);
  const conditions = scopeConditions(tenant, query, parameters);
  if (query.contentHashes !== undefined) {
    conditions.push(`m.content_hash = ANY(${parameters.bind(query.contentHashes)}::text[])`);
  }
  const [distance, join] = isMeasured(query)
    ? ['e.distance', measuredJoin(query, tenant, parameters)]
    : ['NULL::double precision AS distance', ''];
  const order = query.query === undefined ? 'm.updated_at DESC, m.id' : 'distance, m.id';
  return parameters.statement(
    `SELECT ${FACTOR_COLUMNS}, ${distance} FROM app.memories AS m ${join}
      WHERE ${conditions.join(' AND ')}
      ORDER BY ${order} LIMIT ${parameters.bind(query.limit)}::bigint`,
  );
}

/**
 * OFFSET 0 keeps the subqueries apart, so that a number and not a vector of 2 KB travels through the join. A
 * few contents are looked up one by one: measuring the whole scope for them took as long as the search itself.
 */
function measuredJoin(query: MeasuredQuery, tenant: string, parameters: SqlParameters): string {
  const measured = distances(query, tenant, parameters);
  return query.contentHashes === undefined
    ? `LEFT JOIN (${measured} OFFSET 0) AS e ON e.memory_id = m.id`
    : `LEFT JOIN LATERAL (${measured} AND memory_id = m.id OFFSET 0) AS e ON true`;
}

export function isMeasured(query: CandidateQuery): query is MeasuredQuery {
  return query.query !== undefined && query.query.vector !== null;
}

function indexedOrder(query: MeasuredQuery, parameters: SqlParameters): string {
  const { length } = query.query.vector;
  const expression = indexedExpression(length);
  const type = expression.slice(expression.indexOf('::'));
  return `${expression} <=> ${probeOf(query, parameters)}${type}`;
}

function probeOf(query: MeasuredQuery, parameters: SqlParameters): string {
  const literal = vectorLiteral(query.query.vector);
  return `${parameters.bind(literal.text)}${literal.sparse ? '::sparsevec::vector' : '::vector'}`;
}

/** Distances under the query's model, never another model's. */
function distances(query: MeasuredQuery, tenant: string, parameters: SqlParameters): string {
  return `SELECT memory_id, embedding <=> ${probeOf(query, parameters)} AS distance FROM app.memory_embeddings
    WHERE tenant_id = ${tenant} AND model_id = ${parameters.bind(query.query.modelId)}
      AND namespace = ANY(${parameters.bind(query.namespaces)}::text[])`;
}

/** What every candidate of a query must meet; its values are bound. */
export function scopeConditions(tenant: string, query: CandidateQuery, parameters: SqlParameters): string[] {
  return [
    `m.tenant_id = ${tenant}`,
    `m.namespace = ANY(${parameters.bind(query.namespaces)}::text[])`,
    lifeCondition('live', parameters.bind(sqlTime(query.now))),
    ...filterConditions(query.filter, parameters),
  ];
}

export interface MaximaRow extends SqlRow {
  updated_at: Date | null;
  importance: number | null;
  access_count: number | null;
  validated_access_count: number | null;
}

const BOUND_COLUMNS: Record<BoundFactor, string> = {
  importance: 'importance',
  accessCount: 'access_count',
  validatedAccessCount: 'validated_access_count',
};

/**
 * Maxima of the factors over a scope. The newest `updated_at` is taken from the namespaces, whose own times
 * are never older than an entry's: a few rows instead of a scan. The others are scanned when asked for.
 */
export function selectMaxima(tenantId: string, query: CandidateQuery): SqlStatement {
  const parameters = new SqlParameters();
  const tenant = parameters.bind(tenantId);
  const newest = `(SELECT max(n.updated_at) FROM app.namespaces AS n
    WHERE n.tenant_id = ${tenant} AND n.path = ANY(${parameters.bind(query.namespaces)}::text[])) AS updated_at`;
  if (query.bound.length === 0) {
    return parameters.statement(
      `SELECT ${newest}, NULL::double precision AS importance, NULL::bigint AS access_count, NULL::bigint AS validated_access_count`,
    );
  }
  const conditions = scopeConditions(tenant, query, parameters);
  const maximum = (factor: BoundFactor, type: string) => {
    const column = BOUND_COLUMNS[factor];
    return query.bound.includes(factor) ? `max(m.${column}) AS ${column}` : `NULL::${type} AS ${column}`;
  };
  return parameters.statement(
    `SELECT ${newest}, ${maximum('importance', 'double precision')}, ${maximum('accessCount', 'bigint')},
      ${maximum('validatedAccessCount', 'bigint')} FROM app.memories AS m WHERE ${conditions.join(' AND ')}`,
  );
}
