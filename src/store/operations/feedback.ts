import { conflict } from '../../core/errors.ts';
import type { AuditContext, Feedback, FeedbackResult, FeedbackSignal } from '../../core/ports.ts';
import type { Access } from '../../core/types.ts';
import { type EntryRow, toEntry } from '../entry-row.ts';
import { addToCounters, insertFeedback } from '../queries/feedback.ts';
import type { SqlTransaction } from '../sql-database.ts';
import { lockEntry } from './locked-entry.ts';
import { recordAudit } from './record-audit.ts';

/** What each signal adds. The others are recorded and shown, and move nothing (SPEC section 7). */
const COUNTED: Record<FeedbackSignal, { accesses: number; validated: number }> = {
  accessed: { accesses: 1, validated: 0 },
  useful: { accesses: 1, validated: 1 },
  not_useful: { accesses: 0, validated: 0 },
  wrong: { accesses: 0, validated: 0 },
};

export async function recordFeedback(
  tx: SqlTransaction,
  access: Access,
  feedback: Feedback,
  audit: AuditContext,
): Promise<FeedbackResult> {
  const { tenantId, userId } = access.principal;
  const { entry, version } = await lockEntry(tx, access, feedback.memoryId, audit.now);
  if (entry.deletedAt !== null) {
    throw conflict(`The entry ${entry.id} is deleted and takes no feedback.`, { hint: 'Restore it first.' });
  }
  const [inserted] = await tx.query(insertFeedback(tenantId, userId, feedback, audit.now));
  if (inserted === undefined) return { recorded: false, entry };
  const [row] = await tx.query<EntryRow>(
    addToCounters(tenantId, entry.id, COUNTED[feedback.signal], version),
  );
  const counted = row === undefined ? entry : toEntry(row);
  await recordAudit(tx, access, audit, [
    {
      action: 'feedback',
      operation: feedback.signal,
      entry: counted,
      detail: { trace_id: feedback.traceId },
    },
  ]);
  return { recorded: true, entry: counted };
}
