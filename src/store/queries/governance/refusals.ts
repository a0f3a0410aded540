import type { JsonObject } from '../../../core/types.ts';
import type { SqlStatement } from '../../sql-database.ts';
import { sqlTime } from '../../sql-parameters.ts';

/** A refusal with the id its audit record gets. */
export interface RefusalEvent {
  readonly auditId: string;
  readonly occurredAt: number;
  readonly operation: string;
  readonly memoryId: string | null;
  readonly traceId: string | null;
  readonly namespace: string | null;
  readonly unlessConsentOf: string | null;
  readonly detail: JsonObject;
}

/**
 * Writes refusals down as warnings. Runs under `palimpsest_refusals`, which may look up what the asker may not: in
 * which namespace an entry is, or that there is none (`is_known` in the detail). What the owner of a namespace has
 * consented to was no refusal, and leaves nothing.
 */
export function insertRefusals(
  tenantId: string,
  actorId: string,
  refusals: readonly RefusalEvent[],
): SqlStatement {
  return {
    text: `INSERT INTO app.memory_audit
        (tenant_id, audit_id, occurred_at, action, operation, actor_id, namespace, memory_id, detail)
      SELECT $1, r.audit_id, r.occurred_at, 'warning', r.operation, $2, coalesce(r.namespace, m.namespace), r.memory_id,
        r.detail
          || CASE WHEN r.memory_id IS NULL THEN '{}' ELSE jsonb_build_object('is_known', m.id IS NOT NULL) END
          || CASE WHEN r.trace_id IS NULL THEN '{}' ELSE jsonb_build_object('is_known', t.trace_id IS NOT NULL) END
      FROM jsonb_to_recordset($3::text::jsonb) AS r (audit_id uuid, occurred_at timestamptz, operation text,
        memory_id uuid, trace_id uuid, namespace text, unless_consent_of text, detail jsonb)
      LEFT JOIN app.memories m ON m.tenant_id = $1 AND m.id = r.memory_id
      LEFT JOIN app.memory_traces t ON t.tenant_id = $1 AND t.trace_id = r.trace_id
      WHERE r.unless_consent_of IS NULL OR NOT EXISTS (SELECT FROM app.users u
        WHERE u.tenant_id = $1 AND u.user_id = r.unless_consent_of AND u.allow_admin_memory)`,
    values: [
      tenantId,
      actorId,
      JSON.stringify(
        refusals.map((refusal) => ({
          audit_id: refusal.auditId,
          occurred_at: sqlTime(refusal.occurredAt),
          operation: refusal.operation,
          memory_id: refusal.memoryId,
          trace_id: refusal.traceId,
          namespace: refusal.namespace,
          unless_consent_of: refusal.unlessConsentOf,
          detail: refusal.detail,
        })),
      ),
    ],
  };
}
