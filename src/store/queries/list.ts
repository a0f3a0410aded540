import { isLiteralPattern, scopeRegexSource } from '../../core/namespace.ts';
import type { ListQuery } from '../../core/ports.ts';
import { ENTRY_COLUMNS } from '../entry-row.ts';
import type { SqlStatement } from '../sql-database.ts';
import { SqlParameters, sqlTime } from '../sql-parameters.ts';
import { filterConditions } from './filter-condition.ts';
import { lifeCondition } from './life-condition.ts';

/**
 * One page, newest first. The cursor is the last row's (created_at, id), compared as a row: stable through
 * ties (a batch shares one time), inserts and deletes, where an offset would repeat or skip rows.
 */
export function selectPage(tenantId: string, query: ListQuery): SqlStatement {
  const parameters = new SqlParameters();
  const conditions = [`m.tenant_id = ${parameters.bind(tenantId)}`];
  if (query.lifecycle !== 'any') {
    const now =
      query.lifecycle === 'live' || query.lifecycle === 'expired' ? parameters.bind(sqlTime(query.now)) : '';
    conditions.push(lifeCondition(query.lifecycle, now));
  }
  if (query.scope !== null) {
    conditions.push(namespaceCondition(query.scope, parameters));
  }
  conditions.push(...filterConditions(query.filter, parameters));
  for (const word of wordsOf(query.text)) {
    conditions.push(`m.content ILIKE ${parameters.bind(`%${escapeLike(word)}%`)}`);
  }
  if (query.after !== null) {
    const createdAt = parameters.bind(sqlTime(query.after.createdAt));
    const id = parameters.bind(query.after.id);
    conditions.push(`(m.created_at, m.id) < (${createdAt}::timestamptz, ${id}::uuid)`);
  }
  return parameters.statement(
    `SELECT ${ENTRY_COLUMNS} FROM app.memories AS m WHERE ${conditions.join(' AND ')}
      ORDER BY m.created_at DESC, m.id DESC LIMIT ${parameters.bind(query.limit)}::bigint`,
  );
}

/** Paths are looked up by index; a regular expression has to be tried on every entry of the tenant. */
function namespaceCondition(scope: readonly string[], parameters: SqlParameters): string {
  return scope.every(isLiteralPattern)
    ? `m.namespace = ANY(${parameters.bind(scope)}::text[])`
    : `m.namespace ~ ${parameters.bind(scopeRegexSource(scope))}`;
}

function wordsOf(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(/\s+/u).filter((word) => word !== '');
}

function escapeLike(word: string): string {
  return word.replace(/[\\%_]/gu, '\\$&');
}
