import type { ApiKey, KeyScope, StoredKey } from '../../../core/governance.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { sqlTime } from '../../sql-parameters.ts';

export interface KeyRow extends SqlRow {
  tenant_id: string;
  key_id: string;
  user_id: string;
  name: string;
  prefix: string;
  scopes: KeyScope[];
  created_at: Date;
  created_by: string;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

/** A key as the look-up of keys sees it, and nobody else. */
export interface StoredKeyRow extends KeyRow {
  secret_hash: string;
}

const KEY_COLUMNS = `tenant_id, key_id, user_id, name, prefix, scopes, created_at, created_by, expires_at, revoked_at,
  last_used_at`;

export function toKey(row: KeyRow): ApiKey {
  return {
    id: row.key_id,
    tenantId: row.tenant_id,
    userId: row.user_id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    createdAt: row.created_at,
    createdBy: row.created_by,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}

export function toStoredKey(row: StoredKeyRow): StoredKey {
  return { ...toKey(row), secretHash: row.secret_hash };
}

/** Across tenants: runs under `palimpsest_auth`. */
export function selectKeysByPrefix(prefix: string): SqlStatement {
  return { text: `SELECT ${KEY_COLUMNS}, secret_hash FROM app.api_keys WHERE prefix = $1`, values: [prefix] };
}

export function touchKey(key: ApiKey, now: number): SqlStatement {
  return {
    text: `UPDATE app.api_keys SET last_used_at = $3::timestamptz WHERE tenant_id = $1 AND key_id = $2::uuid
      AND (last_used_at IS NULL OR last_used_at <= $3::timestamptz - interval '1 minute')`,
    values: [key.tenantId, key.id, sqlTime(now)],
  };
}

export function insertKey(key: StoredKey): SqlStatement {
  return {
    text: `INSERT INTO app.api_keys
        (tenant_id, key_id, user_id, name, prefix, secret_hash, scopes, created_at, created_by, expires_at)
      VALUES ($1, $2::uuid, $3, $4, $5, $6, $7::text[], $8::timestamptz, $9, $10::timestamptz) RETURNING ${KEY_COLUMNS}`,
    values: [
      key.tenantId,
      key.id,
      key.userId,
      key.name,
      key.prefix,
      key.secretHash,
      key.scopes,
      sqlTime(key.createdAt),
      key.createdBy,
      sqlTime(key.expiresAt),
    ],
  };
}

export function selectKeys(tenantId: string): SqlStatement {
  return {
    text: `SELECT ${KEY_COLUMNS} FROM app.api_keys WHERE tenant_id = $1 ORDER BY created_at DESC, key_id DESC`,
    values: [tenantId],
  };
}

/** Revoking again keeps the first time. */
export function revokeKey(tenantId: string, id: string, now: number): SqlStatement {
  return {
    text: `UPDATE app.api_keys SET revoked_at = coalesce(revoked_at, $3::timestamptz)
      WHERE tenant_id = $1 AND key_id = $2::uuid RETURNING ${KEY_COLUMNS}`,
    values: [tenantId, id, sqlTime(now)],
  };
}
