import type { NamespaceRuleDraft } from '../../core/ports.ts';
import type { NamespaceRule } from '../../core/types.ts';
import type { SqlRow, SqlStatement } from '../sql-database.ts';
import { sqlTime } from '../sql-parameters.ts';

export interface RuleRow extends SqlRow {
  pattern: string;
  bonus: number;
  description: string | null;
  instruction_template: string | null;
  created_at: Date;
  updated_at: Date;
}

const RULE_COLUMNS = 'pattern, bonus, description, instruction_template, created_at, updated_at';

export function toRule(row: RuleRow): NamespaceRule {
  return {
    pattern: row.pattern,
    bonus: row.bonus,
    description: row.description,
    instructionTemplate: row.instruction_template,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function selectRules(tenantId: string): SqlStatement {
  return {
    text: `SELECT ${RULE_COLUMNS} FROM app.vector_namespace_rules WHERE tenant_id = $1 ORDER BY pattern COLLATE "C"`,
    values: [tenantId],
  };
}

export function upsertRule(tenantId: string, rule: NamespaceRuleDraft, now: number): SqlStatement {
  return {
    text: `INSERT INTO app.vector_namespace_rules
        (tenant_id, pattern, bonus, description, instruction_template, created_at, updated_at)
      VALUES ($1, $2, $3::double precision, $4, $5, $6::timestamptz, $6::timestamptz)
      ON CONFLICT (tenant_id, pattern) DO UPDATE SET bonus = excluded.bonus, description = excluded.description,
        instruction_template = excluded.instruction_template, updated_at = excluded.updated_at
      RETURNING ${RULE_COLUMNS}`,
    values: [
      tenantId,
      rule.pattern,
      rule.bonus,
      rule.description ?? null,
      rule.instructionTemplate ?? null,
      sqlTime(now),
    ],
  };
}

export function deleteRule(tenantId: string, pattern: string): SqlStatement {
  return {
    text: `DELETE FROM app.vector_namespace_rules WHERE tenant_id = $1 AND pattern = $2 RETURNING ${RULE_COLUMNS}`,
    values: [tenantId, pattern],
  };
}
