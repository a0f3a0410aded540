import type { NamespaceReport } from '../../../core/governance.ts';
import { scopeRegexSource } from '../../../core/namespace.ts';
import type { ScopePatterns } from '../../../core/ports.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { SqlParameters, sqlTime } from '../../sql-parameters.ts';
import { lifeCondition } from '../life-condition.ts';

export interface NamespaceReportRow extends SqlRow {
  path: string;
  owner_id: string | null;
  version: number;
  created_at: Date;
  updated_at: Date;
  live_count: number;
  total_count: number;
  content_bytes: number;
}

export function toNamespaceReport(row: NamespaceReportRow): NamespaceReport {
  return {
    path: row.path,
    ownerId: row.owner_id,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    liveCount: row.live_count,
    totalCount: row.total_count,
    contentBytes: row.content_bytes,
  };
}

/** Namespaces by path, with what they hold; only those of the page are counted. */
export function selectNamespaceReport(
  tenantId: string,
  query: { scope: ScopePatterns; now: number; limit: number; after: string | null },
): SqlStatement {
  const parameters = new SqlParameters();
  const tenant = parameters.bind(tenantId);
  const now = parameters.bind(sqlTime(query.now));
  const conditions = [`n.tenant_id = ${tenant}`];
  if (query.scope !== null) conditions.push(`n.path ~ ${parameters.bind(scopeRegexSource(query.scope))}`);
  if (query.after !== null) conditions.push(`n.path COLLATE "C" > ${parameters.bind(query.after)}`);
  return parameters.statement(
    `SELECT n.path, n.owner_id, n.version, n.created_at, n.updated_at, held.*
      FROM (SELECT * FROM app.namespaces AS n WHERE ${conditions.join(' AND ')}
        ORDER BY n.path COLLATE "C" LIMIT ${parameters.bind(query.limit)}::bigint) AS n
      CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE ${lifeCondition('live', now)}) AS live_count,
          count(*) AS total_count, coalesce(sum(octet_length(m.content)), 0)::bigint AS content_bytes
        FROM app.memories AS m WHERE m.tenant_id = ${tenant} AND m.namespace = n.path) AS held
      ORDER BY n.path COLLATE "C"`,
  );
}
