import type { AuditAction, AuditQuery, AuditRecord } from '../../../core/governance.ts';
import { scopeRegexSource } from '../../../core/namespace.ts';
import type { JsonObject } from '../../../core/types.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { SqlParameters, sqlTime } from '../../sql-parameters.ts';

export interface AuditRow extends SqlRow {
  audit_id: string;
  occurred_at: Date;
  action: AuditAction;
  operation: string | null;
  actor_id: string;
  namespace: string | null;
  memory_id: string | null;
  detail: JsonObject;
}

export function toAuditRecord(row: AuditRow): AuditRecord {
  return {
    id: row.audit_id,
    occurredAt: row.occurred_at,
    action: row.action,
    operation: row.operation,
    actorId: row.actor_id,
    namespace: row.namespace,
    memoryId: row.memory_id,
    detail: row.detail,
  };
}

/** One page, newest first, with a row comparison as cursor (see `selectPage`). */
export function selectAudit(tenantId: string, query: AuditQuery): SqlStatement {
  const parameters = new SqlParameters();
  const conditions = [`tenant_id = ${parameters.bind(tenantId)}`];
  const add = (value: unknown, condition: (placeholder: string) => string) => {
    if (value !== undefined) conditions.push(condition(parameters.bind(value)));
  };
  add(query.actions, (p) => `action = ANY(${p}::text[])`);
  add(query.actorId, (p) => `actor_id = ${p}`);
  add(query.memoryId, (p) => `memory_id = ${p}::uuid`);
  if (query.scope !== undefined && query.scope !== null) {
    add(scopeRegexSource(query.scope), (p) => `namespace ~ ${p}`);
  }
  add(query.from && sqlTime(query.from), (p) => `occurred_at >= ${p}::timestamptz`);
  add(query.until && sqlTime(query.until), (p) => `occurred_at < ${p}::timestamptz`);
  if (query.after !== null) {
    const time = parameters.bind(sqlTime(query.after.createdAt));
    conditions.push(
      `(occurred_at, audit_id) < (${time}::timestamptz, ${parameters.bind(query.after.id)}::uuid)`,
    );
  }
  return parameters.statement(
    `SELECT audit_id, occurred_at, action, operation, actor_id, namespace, memory_id, detail
      FROM app.memory_audit WHERE ${conditions.join(' AND ')}
      ORDER BY occurred_at DESC, audit_id DESC LIMIT ${parameters.bind(query.limit)}::bigint`,
  );
}
