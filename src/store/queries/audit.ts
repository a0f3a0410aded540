import type { JsonObject } from '../../core/types.ts';
import type { SqlStatement } from '../sql-database.ts';
import { sqlTime } from '../sql-parameters.ts';

/** What happened to an entry, a namespace or a setting. */
export interface AuditEvent {
  readonly auditId: string;
  readonly action: 'read' | 'write' | 'delete' | 'status' | 'feedback' | 'warning' | 'admin';
  readonly operation: string | null;
  readonly namespace: string | null;
  readonly memoryId: string | null;
  readonly detail: JsonObject;
}

/** Records events in the transaction that caused them. */
export function insertAudit(
  tenantId: string,
  actorId: string,
  events: readonly AuditEvent[],
  now: number,
): SqlStatement {
  return {
    text: `INSERT INTO app.memory_audit
        (tenant_id, audit_id, occurred_at, action, operation, actor_id, namespace, memory_id, detail)
      SELECT $1, r.audit_id, $3::timestamptz, r.action, r.operation, $2, r.namespace, r.memory_id, r.detail
      FROM jsonb_to_recordset($4::text::jsonb) AS r (
        audit_id uuid, action text, operation text, namespace text, memory_id uuid, detail jsonb)`,
    values: [
      tenantId,
      actorId,
      sqlTime(now),
      JSON.stringify(
        events.map((event) => ({
          audit_id: event.auditId,
          action: event.action,
          operation: event.operation,
          namespace: event.namespace,
          memory_id: event.memoryId,
          detail: event.detail,
        })),
      ),
    ],
  };
}
