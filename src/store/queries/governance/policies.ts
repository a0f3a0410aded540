import type { MemoryPolicy, PolicySubject, StoredPolicy } from '../../../core/policy.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { sqlTime } from '../../sql-parameters.ts';

export interface PolicyRow extends SqlRow {
  subject_kind: PolicySubject['kind'];
  subject_id: string;
  read_namespaces: string[];
  write_namespace: string | null;
  allowed_write_namespaces: string[];
  allow_write: boolean;
  allow_tool_write: boolean;
  allow_tool_delete: boolean;
  profile: string | null;
  top_k: number | null;
  min_score: number | null;
  relative_cutoff: number | null;
  token_budget: number | null;
  created_at: Date;
  updated_at: Date;
}

export function toPolicy(row: PolicyRow): StoredPolicy {
  return {
    subject: { kind: row.subject_kind, id: row.subject_id },
    readNamespaces: row.read_namespaces,
    writeNamespace: row.write_namespace,
    allowedWriteNamespaces: row.allowed_write_namespaces,
    allowWrite: row.allow_write,
    allowToolWrite: row.allow_tool_write,
    allowToolDelete: row.allow_tool_delete,
    profile: row.profile,
    topK: row.top_k,
    minScore: row.min_score,
    relativeCutoff: row.relative_cutoff,
    tokenBudget: row.token_budget,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function selectPolicy(tenantId: string, subject: PolicySubject): SqlStatement {
  return {
    text: 'SELECT * FROM app.memory_policies WHERE tenant_id = $1 AND subject_kind = $2 AND subject_id = $3',
    values: [tenantId, subject.kind, subject.id],
  };
}

/** The policies of several subjects, those that exist. */
export function selectPoliciesOf(tenantId: string, subjects: readonly PolicySubject[]): SqlStatement {
  return {
    text: `SELECT * FROM app.memory_policies WHERE tenant_id = $1
      AND (subject_kind, subject_id) IN (SELECT * FROM unnest($2::text[], $3::text[]))`,
    values: [tenantId, subjects.map(({ kind }) => kind), subjects.map(({ id }) => id)],
  };
}

export function selectPolicies(tenantId: string): SqlStatement {
  return {
    text: `SELECT * FROM app.memory_policies WHERE tenant_id = $1
      ORDER BY subject_kind COLLATE "C", subject_id COLLATE "C"`,
    values: [tenantId],
  };
}

export function upsertPolicy(
  tenantId: string,
  subject: PolicySubject,
  policy: MemoryPolicy,
  now: number,
): SqlStatement {
  return {
    text: `INSERT INTO app.memory_policies (tenant_id, subject_kind, subject_id, read_namespaces, write_namespace,
        allowed_write_namespaces, allow_write, allow_tool_write, allow_tool_delete, profile, top_k, min_score,
        relative_cutoff, token_budget, created_at, updated_at)
      VALUES ($1, $2, $3, $4::text[], $5, $6::text[], $7, $8, $9, $10, $11::integer, $12::double precision,
        $13::double precision, $14::integer, $15::timestamptz, $15::timestamptz)
      ON CONFLICT (tenant_id, subject_kind, subject_id) DO UPDATE SET
        read_namespaces = excluded.read_namespaces, write_namespace = excluded.write_namespace,
        allowed_write_namespaces = excluded.allowed_write_namespaces, allow_write = excluded.allow_write,
        allow_tool_write = excluded.allow_tool_write, allow_tool_delete = excluded.allow_tool_delete,
        profile = excluded.profile, top_k = excluded.top_k, min_score = excluded.min_score,
        relative_cutoff = excluded.relative_cutoff, token_budget = excluded.token_budget,
        updated_at = excluded.updated_at
      RETURNING *`,
    values: [
      tenantId,
      subject.kind,
      subject.id,
      policy.readNamespaces,
      policy.writeNamespace,
      policy.allowedWriteNamespaces,
      policy.allowWrite,
      policy.allowToolWrite,
      policy.allowToolDelete,
      policy.profile,
      policy.topK,
      policy.minScore,
      policy.relativeCutoff,
      policy.tokenBudget,
      sqlTime(now),
    ],
  };
}

export function deletePolicy(tenantId: string, subject: PolicySubject): SqlStatement {
  return {
    text: `DELETE FROM app.memory_policies WHERE tenant_id = $1 AND subject_kind = $2 AND subject_id = $3
      RETURNING subject_id`,
    values: [tenantId, subject.kind, subject.id],
  };
}
