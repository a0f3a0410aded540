import type { NewTrace, StoredTrace, TraceQuery } from '../../../core/governance.ts';
import type { JsonObject } from '../../../core/types.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { SqlParameters, sqlTime } from '../../sql-parameters.ts';

export interface TraceRow extends SqlRow {
  trace_id: string;
  user_id: string;
  created_at: Date;
  query: string | null;
  is_query_hidden: boolean;
  trace: JsonObject;
}

/**
 * An administrator sees how other users' results came about, and what they asked only with their consent: a query
 * says as much as a memory.
 */
const TRACE_COLUMNS = `trace_id, user_id, created_at, trace, CASE WHEN s.is_shown THEN query END AS query,
  query IS NOT NULL AND NOT s.is_shown AS is_query_hidden`;
const TRACES = `app.memory_traces AS t, LATERAL (SELECT t.user_id = (SELECT app.asking_user())
  OR (SELECT app.is_tenant_wide()) OR EXISTS (SELECT FROM app.users u
    WHERE u.tenant_id = t.tenant_id AND u.user_id = t.user_id AND u.allow_admin_memory) AS is_shown) AS s`;

export function toStoredTrace(row: TraceRow): StoredTrace {
  return {
    id: row.trace_id,
    userId: row.user_id,
    createdAt: row.created_at,
    query: row.query,
    isQueryHidden: row.is_query_hidden,
    trace: row.trace,
  };
}

/** A trace that is written twice is the same trace. */
export function insertTraces(tenantId: string, userId: string, traces: readonly NewTrace[]): SqlStatement {
  return {
    text: `INSERT INTO app.memory_traces (tenant_id, trace_id, user_id, created_at, query, trace)
      SELECT $1, r.trace_id, $2, r.created_at, r.query, r.trace
      FROM jsonb_to_recordset($3::text::jsonb) AS r (trace_id uuid, created_at timestamptz, query text, trace jsonb)
      ON CONFLICT DO NOTHING`,
    values: [
      tenantId,
      userId,
      JSON.stringify(
        traces.map((trace) => ({
          trace_id: trace.id,
          created_at: sqlTime(trace.createdAt),
          query: trace.query,
          trace: trace.trace,
        })),
      ),
    ],
  };
}

export function selectTrace(tenantId: string, id: string): SqlStatement {
  return {
    text: `SELECT ${TRACE_COLUMNS} FROM ${TRACES} WHERE tenant_id = $1 AND trace_id = $2::uuid`,
    values: [tenantId, id],
  };
}

export function selectTraces(tenantId: string, query: TraceQuery): SqlStatement {
  const parameters = new SqlParameters();
  const conditions = [`tenant_id = ${parameters.bind(tenantId)}`];
  if (query.userId !== undefined) conditions.push(`user_id = ${parameters.bind(query.userId)}`);
  if (query.from !== undefined) {
    conditions.push(`created_at >= ${parameters.bind(sqlTime(query.from))}::timestamptz`);
  }
  if (query.until !== undefined) {
    conditions.push(`created_at < ${parameters.bind(sqlTime(query.until))}::timestamptz`);
  }
  if (query.after !== null) {
    const time = parameters.bind(sqlTime(query.after.createdAt));
    conditions.push(
      `(created_at, trace_id) < (${time}::timestamptz, ${parameters.bind(query.after.id)}::uuid)`,
    );
  }
  return parameters.statement(
    `SELECT ${TRACE_COLUMNS} FROM ${TRACES} WHERE ${conditions.join(' AND ')}
      ORDER BY created_at DESC, trace_id DESC LIMIT ${parameters.bind(query.limit)}::bigint`,
  );
}
