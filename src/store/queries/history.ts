import { ENTRY_COLUMNS } from '../entry-row.ts';
import type { SqlStatement } from '../sql-database.ts';

/**
 * The chain of supersession from one entry on: towards what replaced it (`newer`) or towards what it
 * replaced (`older`), the entry itself first. `UNION` stops at a row seen before, so even a damaged chain
 * ends.
 */
export function selectChain(tenantId: string, id: string, direction: 'newer' | 'older'): SqlStatement {
  const step = direction === 'newer' ? 'next.id = chain.superseded_by' : 'next.superseded_by = chain.id';
  return {
    text: `WITH RECURSIVE chain AS (
        SELECT id, superseded_by FROM app.memories WHERE tenant_id = $1 AND id = $2::uuid
        UNION
        SELECT next.id, next.superseded_by FROM app.memories AS next JOIN chain ON ${step}
        WHERE next.tenant_id = $1
      )
      SELECT ${ENTRY_COLUMNS} FROM chain JOIN app.memories AS m ON m.tenant_id = $1 AND m.id = chain.id`,
    values: [tenantId, id],
  };
}
