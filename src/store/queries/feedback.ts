import type { Feedback, FeedbackSignal } from '../../core/ports.ts';
import { ENTRY_COLUMNS } from '../entry-row.ts';
import type { SqlRow, SqlStatement } from '../sql-database.ts';
import { sqlTime } from '../sql-parameters.ts';

/** Records a signal once per (trace, entry, signal). No row comes back when it was given before. */
export function insertFeedback(
  tenantId: string,
  userId: string,
  feedback: Feedback,
  now: number,
): SqlStatement {
  return {
    text: `INSERT INTO app.memory_feedback (tenant_id, trace_id, memory_id, signal, user_id, created_at)
      VALUES ($1, $2::uuid, $3::uuid, $4, $5, $6::timestamptz)
      ON CONFLICT (tenant_id, trace_id, memory_id, signal) DO NOTHING RETURNING memory_id`,
    values: [tenantId, feedback.traceId, feedback.memoryId, feedback.signal, userId, sqlTime(now)],
  };
}

/** Adds to the counters in place: never read, then written. */
export function addToCounters(
  tenantId: string,
  id: string,
  added: { accesses: number; validated: number },
  version: number,
): SqlStatement {
  return {
    text: `UPDATE app.memories AS m SET access_count = access_count + $3::bigint,
        validated_access_count = validated_access_count + $4::bigint, version = $5::bigint
      WHERE m.tenant_id = $1 AND m.id = $2::uuid RETURNING ${ENTRY_COLUMNS}`,
    values: [tenantId, id, added.accesses, added.validated, version],
  };
}

/** Whose trace it is. No row while it is not written yet. */
export function selectTraceUser(tenantId: string, traceId: string): SqlStatement {
  return {
    text: 'SELECT user_id FROM app.memory_traces WHERE tenant_id = $1 AND trace_id = $2::uuid',
    values: [tenantId, traceId],
  };
}

export interface SignalCountRow extends SqlRow {
  signal: FeedbackSignal;
  count: number;
}

export function countSignals(tenantId: string, memoryId: string): SqlStatement {
  return {
    text: `SELECT signal, count(*) AS count FROM app.memory_feedback
      WHERE tenant_id = $1 AND memory_id = $2::uuid GROUP BY signal`,
    values: [tenantId, memoryId],
  };
}
