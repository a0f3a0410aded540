import { v7 as uuidv7 } from 'uuid';
import type { AuditContext } from '../../core/ports.ts';
import type { Access, JsonObject, MemoryEntry } from '../../core/types.ts';
import { type AuditEvent, insertAudit } from '../queries/audit.ts';
import type { SqlTransaction } from '../sql-database.ts';

/** Something that happened to one entry. */
export interface EntryEvent {
  readonly action: AuditEvent['action'];
  readonly operation: string | null;
  readonly entry: MemoryEntry;
  readonly detail?: JsonObject;
}

/** Records what happened to entries, in the same transaction. */
export async function recordAudit(
  tx: SqlTransaction,
  access: Access,
  audit: AuditContext,
  events: readonly EntryEvent[],
): Promise<void> {
  await tx.query(
    insertAudit(
      access.principal.tenantId,
      access.principal.userId,
      events.map(({ action, operation, entry, detail }) => ({
        auditId: uuidv7({ msecs: audit.now }),
        action,
        operation,
        namespace: entry.namespace,
        memoryId: entry.id,
        detail: { ...audit.detail, ...detail },
      })),
      audit.now,
    ),
  );
}

/** Records what an administrator decided, in the same transaction. It concerns no single entry. */
export async function recordDecision(
  tx: SqlTransaction,
  { principal }: Access,
  audit: AuditContext,
  operation: string,
  detail: JsonObject,
): Promise<void> {
  const event = {
    auditId: uuidv7({ msecs: audit.now }),
    action: 'admin' as const,
    operation,
    namespace: null,
    memoryId: null,
    detail: { ...audit.detail, ...detail },
  };
  await tx.query(insertAudit(principal.tenantId, principal.userId, [event], audit.now));
}
