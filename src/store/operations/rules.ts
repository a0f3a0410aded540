import { PalimpsestError } from '../../core/errors.ts';
import type { AuditContext, NamespaceRuleDraft } from '../../core/ports.ts';
import type { Access, NamespaceRule } from '../../core/types.ts';
import { insertTenant } from '../queries/namespaces.ts';
import { deleteRule, type RuleRow, selectRules, toRule, upsertRule } from '../queries/rules.ts';
import type { SqlTransaction } from '../sql-database.ts';
import { recordDecision } from './record-audit.ts';

/** The administrator's rules. They shape every user's ranking, so each change leaves an audit row. */

export async function readRules(tx: SqlTransaction, tenantId: string): Promise<NamespaceRule[]> {
  return (await tx.query<RuleRow>(selectRules(tenantId))).map(toRule);
}

export async function writeRule(
  tx: SqlTransaction,
  access: Access,
  rule: NamespaceRuleDraft,
  audit: AuditContext,
): Promise<NamespaceRule> {
  requireAdministrator(access);
  // A rule may be the first thing anybody says of a tenant.
  await tx.query(insertTenant(access.principal.tenantId, audit.now));
  const [row] = await tx.query<RuleRow>(upsertRule(access.principal.tenantId, rule, audit.now));
  if (row === undefined) throw new Error('The database did not return the rule it was told to write.');
  await recordDecision(tx, access, audit, 'put_rule', {
    pattern: row.pattern,
    bonus: row.bonus,
    description: row.description,
    instruction_template: row.instruction_template,
  });
  return toRule(row);
}

export async function removeRule(
  tx: SqlTransaction,
  access: Access,
  pattern: string,
  audit: AuditContext,
): Promise<boolean> {
  requireAdministrator(access);
  const [row] = await tx.query<RuleRow>(deleteRule(access.principal.tenantId, pattern));
  if (row === undefined) return false;
  await recordDecision(tx, access, audit, 'delete_rule', { pattern });
  return true;
}

function requireAdministrator({ principal }: Access): void {
  if (principal.isAdmin || principal.isTenantWide) return;
  throw new PalimpsestError('forbidden', 'Only an administrator may change namespace rules.', {
    details: [{ got: principal.userId, hint: 'Rules shape the ranking of every user of the tenant.' }],
  });
}
