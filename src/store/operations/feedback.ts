import { conflict, notFound } from '../../core/errors.ts';
import type { AuditContext, Feedback, FeedbackResult, FeedbackSignal } from '../../core/ports.ts';
import type { Access } from '../../core/types.ts';
import { type EntryRow, toEntry } from '../entry-row.ts';
import {
  addToCounters,
  countSignals,
  insertFeedback,
  type SignalCountRow,
  selectTraceUser,
} from '../queries/feedback.ts';
import type { SqlTransaction } from '../sql-database.ts';
import { lockEntry, readEntry } from './locked-entry.ts';
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
  await refuseForeignTrace(tx, access, feedback.traceId);
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

/** A trace is written in the background, so that one nobody has written yet is taken for the asker's own. */
async function refuseForeignTrace(tx: SqlTransaction, { principal }: Access, traceId: string): Promise<void> {
  const [row] = await tx.query<{ user_id: string }>(selectTraceUser(principal.tenantId, traceId));
  if (row === undefined || row.user_id === principal.userId || principal.isTenantWide) return;
  throw notFound('trace', traceId);
}

/** How often each signal was given for an entry the asker may read. */
export async function countFeedback(
  tx: SqlTransaction,
  access: Access,
  memoryId: string,
): Promise<Record<FeedbackSignal, number>> {
  const { id } = await readEntry(tx, access, memoryId);
  const rows = await tx.query<SignalCountRow>(countSignals(access.principal.tenantId, id));
  const counts: Record<FeedbackSignal, number> = { accessed: 0, useful: 0, not_useful: 0, wrong: 0 };
  for (const { signal, count } of rows) counts[signal] = count;
  return counts;
}
