import type { Command } from 'commander';
import { ruleDraftSchema, toWireRule, type WireRule } from '../../contract/namespace-rule.ts';
import { parseContract } from '../../contract/parse-contract.ts';
import { jsonText } from '../../core/json-text.ts';
import type { CliParts } from '../cli-parts.ts';
import { printable } from '../format/printable.ts';
import { textTable } from '../format/table.ts';
import { examples } from '../help.ts';
import { listByDefault } from '../list-by-default.ts';
import { numberOption } from '../option-values.ts';
import { type TenantOptions, withTenantOptions } from '../tenant-options.ts';
import { withService } from '../with-service.ts';

interface SetOptions extends TenantOptions {
  readonly bonus?: number;
  readonly description?: string;
  readonly instruction?: string;
}

const WHOSE = 'whose rules';

export function addRulesCommand(program: Command, parts: CliParts): void {
  const rules = program
    .command('rules')
    .description('Rules that give namespaces a bonus in the ranking, or an instruction.')
    .addHelpText(
      'after',
      examples([
        'palimpsest rules set "vector.agent.*.howto" --bonus 0.1 --description "how-tos first"',
        'palimpsest rules list',
        'palimpsest rules delete "vector.agent.*.howto"',
      ]),
    );
  addList(rules, parts);
  addSet(rules, parts);
  addDelete(rules, parts);
}

function addList(rules: Command, parts: CliParts): void {
  withTenantOptions(listByDefault(rules), WHOSE)
    .description('Show all rules.')
    .addHelpText('after', examples(['palimpsest rules list']))
    .action(async (options: TenantOptions) => {
      const all = await withService(parts, options, async (service, context) =>
        (await service.listRules(context)).map(toWireRule),
      );
      await parts.stdout.write(
        options.json ? `${jsonText({ rules: all }, 2)}\n` : rulesTable(all, parts.stdout.columns),
      );
    });
}

function addSet(rules: Command, parts: CliParts): void {
  withTenantOptions(rules.command('set'), WHOSE)
    .description('Make the rule of a pattern, or replace it whole.')
    .argument('<pattern>', 'covers what it matches and every namespace below')
    .option('--bonus <number>', '0 to 1; 0.1 adds 10 % of the similarity (default: 0)', numberOption)
    .option('--description <text>', 'why the rule is there')
    .option(
      '--instruction <template>',
      'what stands before entries of these namespaces in a prompt; {{content}} is their place',
    )
    .addHelpText(
      'after',
      examples([
        'palimpsest rules set "vector.agent.*.howto" --bonus 0.1 --description "how-tos first"',
        'palimpsest rules set team.decisions --instruction "Decided by the team: {{content}}"',
      ]),
    )
    .action(async (pattern: string, options: SetOptions) => {
      const draft = parseContract(ruleDraftSchema, {
        pattern,
        bonus: options.bonus,
        description: options.description,
        instruction_template: options.instruction,
      });
      const rule = await withService(parts, options, async (service, context) =>
        toWireRule(await service.putRule(context, draft)),
      );
      await parts.stdout.write(
        options.json ? `${jsonText(rule, 2)}\n` : `${rule.pattern} has the bonus ${rule.bonus}\n`,
      );
    });
}

function addDelete(rules: Command, parts: CliParts): void {
  withTenantOptions(rules.command('delete'), WHOSE)
    .description('Remove the rule of a pattern.')
    .argument('<pattern>', 'as rules list shows it')
    .addHelpText('after', examples(['palimpsest rules delete "vector.agent.*.howto"']))
    .action(async (pattern: string, options: TenantOptions) => {
      await withService(parts, options, (service, context) => service.deleteRule(context, pattern));
      await parts.stdout.write(
        options.json ? `${jsonText({ deleted: pattern })}\n` : `Removed the rule ${printable(pattern)}\n`,
      );
    });
}

function rulesTable(rules: readonly WireRule[], width: number): string {
  if (rules.length === 0) return 'There are no rules.\n';
  const rows = rules.map((rule) => [
    rule.pattern,
    String(rule.bonus),
    printable([rule.description, rule.instruction_template].filter((text) => text !== null).join('\n')),
  ]);
  return textTable(
    [{ head: 'pattern' }, { head: 'bonus', align: 'right' }, { head: 'description, instruction' }],
    rows,
    { width },
  );
}
