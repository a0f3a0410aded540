import { z } from 'zod';
import { checkUserText } from '../core/entry.ts';
import { excerpt, invalidInput } from '../core/errors.ts';
import { parsePattern } from '../core/namespace.ts';
import type { NamespaceRuleDraft } from '../core/ports.ts';
import type { NamespaceRule } from '../core/types.ts';
import { byRule } from './by-rule.ts';
import { toWire } from './wire-form.ts';
import { wireInstant } from './wire-instant.ts';

/** Longest description and instruction of a rule, in code points: an instruction stands in every prompt. */
const MAX_RULE_TEXT = 4096;

function ruleText(field: string) {
  return z
    .string()
    .meta({ maxLength: MAX_RULE_TEXT })
    .transform(byRule((text: string, name: string) => checkUserText(text, name, MAX_RULE_TEXT), field))
    .nullish();
}

export const rulePatternField = z
  .string()
  .meta({ description: 'Covers what it matches and all below.', example: 'vector.agent.*.howto' })
  .transform(byRule(parsePattern, 'pattern'));

export const bonusField = z
  .number()
  .meta({ minimum: 0, maximum: 1, description: '0.1 adds 10 % of the similarity. Default 0.' })
  .transform(byRule(checkBonus, 'bonus'));

/** Names a rule in a query string. */
export const rulePatternQuerySchema = z.strictObject({ pattern: rulePatternField });

/** What an administrator sends to make or replace a rule. */
export const ruleDraftSchema = z
  .strictObject({
    pattern: rulePatternField,
    bonus: bonusField.optional(),
    description: ruleText('description'),
    instruction_template: ruleText('instruction_template'),
  })
  .transform(
    ({ pattern, bonus, description, instruction_template: instructionTemplate }): NamespaceRuleDraft => ({
      pattern,
      bonus: bonus ?? 0,
      description,
      instructionTemplate,
    }),
  );

function checkBonus(bonus: number, field: string): number {
  if (bonus >= 0 && bonus <= 1) return bonus;
  throw invalidInput(`${field}: ${excerpt(bonus)} is outside [0, 1]; 0.1 adds 10 % of the similarity.`, {
    path: field,
    got: excerpt(bonus),
    allowed: 'a number in [0, 1]',
  });
}

export const wireRuleSchema = z
  .strictObject({
    pattern: z.string(),
    bonus: z.number(),
    description: z.string().nullable(),
    instruction_template: z.string().nullable(),
    created_at: wireInstant,
    updated_at: wireInstant,
  })
  .meta({ id: 'NamespaceRule' });

export const wireRuleListSchema = z
  .strictObject({ rules: z.array(wireRuleSchema) })
  .meta({ id: 'NamespaceRuleList' });

export type WireRule = z.input<typeof wireRuleSchema>;

export function toWireRule(rule: NamespaceRule): WireRule {
  return toWire(wireRuleSchema, rule);
}
