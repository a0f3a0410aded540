import type { SqlStatement } from '../../sql-database.ts';
import { sqlTime } from '../../sql-parameters.ts';

export function selectUser(tenantId: string, userId: string): SqlStatement {
  return {
    text: 'SELECT allow_admin_memory FROM app.users WHERE tenant_id = $1 AND user_id = $2',
    values: [tenantId, userId],
  };
}

export function upsertConsent(tenantId: string, userId: string, allow: boolean, now: number): SqlStatement {
  return {
    text: `INSERT INTO app.users (tenant_id, user_id, allow_admin_memory, created_at)
      VALUES ($1, $2, $3, $4::timestamptz)
      ON CONFLICT (tenant_id, user_id) DO UPDATE SET allow_admin_memory = excluded.allow_admin_memory`,
    values: [tenantId, userId, allow, sqlTime(now)],
  };
}
