import type { SqlStatement } from '../../sql-database.ts';
import { sqlTime } from '../../sql-parameters.ts';

/** What retention lets go. Runs under `palimpsest_upkeep`. */

export function selectTenantIds(): SqlStatement {
  return { text: 'SELECT tenant_id FROM app.tenants ORDER BY tenant_id COLLATE "C"', values: [] };
}

export function expireTraces(tenantId: string, before: number): SqlStatement {
  return expire('app.memory_traces', 'created_at', tenantId, before);
}

export function expireAudit(tenantId: string, before: number): SqlStatement {
  return expire('app.memory_audit', 'occurred_at', tenantId, before);
}

export function expireIdempotencyKeys(tenantId: string, before: number): SqlStatement {
  return expire('app.idempotency_keys', 'claimed_at', tenantId, before);
}

function expire(table: string, column: string, tenantId: string, before: number): SqlStatement {
  return {
    text: `WITH gone AS (
        DELETE FROM ${table} WHERE tenant_id = $1 AND ${column} < $2::timestamptz RETURNING tenant_id
      ) SELECT count(*) AS count FROM gone`,
    values: [tenantId, sqlTime(before)],
  };
}
