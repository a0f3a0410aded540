import type { EntryStats, EntryStatsQuery } from '../../../core/governance.ts';
import { scopeRegexSource } from '../../../core/namespace.ts';
import type { ScopePatterns } from '../../../core/ports.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { SqlParameters, sqlTime } from '../../sql-parameters.ts';
import { lifeCondition } from '../life-condition.ts';

/** Types a report names. */
const SHOWN_TYPES = 50;

export interface EntryStatsRow extends SqlRow {
  namespace_count: number;
  total_count: number;
  live_count: number;
  superseded_count: number;
  expired_count: number;
  deleted_count: number;
  confirmed_count: number;
  content_bytes: number;
}

export interface TypeCountRow extends SqlRow {
  type: string;
  live_count: number;
}

export function toEntryStats(row: EntryStatsRow, types: readonly TypeCountRow[]): EntryStats {
  return {
    namespaceCount: row.namespace_count,
    totalCount: row.total_count,
    liveCount: row.live_count,
    supersededCount: row.superseded_count,
    expiredCount: row.expired_count,
    deletedCount: row.deleted_count,
    confirmedCount: row.confirmed_count,
    contentBytes: row.content_bytes,
    types: types.map(({ type, live_count: liveCount }) => ({ type, liveCount })),
  };
}

export function selectEntryStats(tenantId: string, { scope, now }: EntryStatsQuery): SqlStatement {
  const parameters = new SqlParameters();
  const from = entriesOf(parameters, tenantId, scope);
  const time = parameters.bind(sqlTime(now));
  const counted = (condition: string) => `count(*) FILTER (WHERE ${condition})`;
  const live = lifeCondition('live', time);
  return parameters.statement(
    `SELECT count(DISTINCT m.namespace) AS namespace_count, count(*) AS total_count, ${counted(live)} AS live_count,
        ${counted(lifeCondition('superseded', time))} AS superseded_count,
        ${counted(lifeCondition('expired', time))} AS expired_count,
        ${counted(lifeCondition('deleted', time))} AS deleted_count,
        ${counted(`${live} AND m.status = 'confirmed'`)} AS confirmed_count,
        coalesce(sum(octet_length(m.content)), 0)::bigint AS content_bytes
      ${from}`,
  );
}

/** The most frequent types of what a search can find. */
export function selectTypeCounts(tenantId: string, { scope, now }: EntryStatsQuery): SqlStatement {
  const parameters = new SqlParameters();
  const from = entriesOf(parameters, tenantId, scope);
  const live = lifeCondition('live', parameters.bind(sqlTime(now)));
  return parameters.statement(
    `SELECT m.type, count(*) AS live_count ${from} AND ${live}
      GROUP BY m.type ORDER BY live_count DESC, m.type COLLATE "C" LIMIT ${SHOWN_TYPES}`,
  );
}

function entriesOf(parameters: SqlParameters, tenantId: string, scope: ScopePatterns): string {
  const tenant = parameters.bind(tenantId);
  const inScope = scope === null ? '' : ` AND m.namespace ~ ${parameters.bind(scopeRegexSource(scope))}`;
  return `FROM app.memories AS m WHERE m.tenant_id = ${tenant}${inScope}`;
}
