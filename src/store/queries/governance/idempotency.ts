import type { IdempotentAnswer } from '../../../core/governance.ts';
import type { JsonValue } from '../../../core/types.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { sqlTime } from '../../sql-parameters.ts';

export interface IdempotencyRow extends SqlRow {
  request_hash: string;
  status: number | null;
  body: JsonValue;
}

/**
 * Claims a key: a row comes back only to the request that is to be carried out. A claim that was never
 * answered (its server died) can be taken over after a minute, by the same request only.
 */
export function claimKey(
  tenantId: string,
  userId: string,
  key: string,
  requestHash: string,
  now: number,
): SqlStatement {
  return {
    text: `INSERT INTO app.idempotency_keys AS k (tenant_id, user_id, idempotency_key, request_hash, claimed_at)
      VALUES ($1, $2, $3, $4, $5::timestamptz)
      ON CONFLICT (tenant_id, user_id, idempotency_key) DO UPDATE SET claimed_at = excluded.claimed_at
        WHERE k.status IS NULL AND k.request_hash = excluded.request_hash
          AND k.claimed_at <= excluded.claimed_at - interval '1 minute'
      RETURNING idempotency_key`,
    values: [tenantId, userId, key, requestHash, sqlTime(now)],
  };
}

export function selectClaim(tenantId: string, userId: string, key: string): SqlStatement {
  return {
    text: `SELECT request_hash, status, body FROM app.idempotency_keys
      WHERE tenant_id = $1 AND user_id = $2 AND idempotency_key = $3`,
    values: [tenantId, userId, key],
  };
}

export function updateAnswer(
  tenantId: string,
  userId: string,
  key: string,
  answer: IdempotentAnswer,
): SqlStatement {
  return {
    text: `UPDATE app.idempotency_keys SET status = $4::integer, body = $5::text::jsonb
      WHERE tenant_id = $1 AND user_id = $2 AND idempotency_key = $3`,
    values: [tenantId, userId, key, answer.status, JSON.stringify(answer.body)],
  };
}

export function deleteClaim(tenantId: string, userId: string, key: string): SqlStatement {
  return {
    text: `DELETE FROM app.idempotency_keys
      WHERE tenant_id = $1 AND user_id = $2 AND idempotency_key = $3 AND status IS NULL`,
    values: [tenantId, userId, key],
  };
}
