import { Argument, type Command } from 'commander';
import {
  policyDraftSchema,
  wireKeptPolicySchema,
  wirePolicyListSchema,
  wirePolicySchema,
} from '../../contract/memory-policy.ts';
import { parseContract } from '../../contract/parse-contract.ts';
import { toWire } from '../../contract/wire-form.ts';
import { jsonText } from '../../core/json-text.ts';
import type { PolicySubject, StoredPolicy } from '../../core/policy.ts';
import type { CliParts } from '../cli-parts.ts';
import { printable } from '../format/printable.ts';
import { textTable } from '../format/table.ts';
import { writeWarnings } from '../format/warnings.ts';
import { examples } from '../help.ts';
import { listByDefault } from '../list-by-default.ts';
import { readJson } from '../read-json.ts';
import { type TenantOptions, withTenantOptions } from '../tenant-options.ts';
import { withService } from '../with-service.ts';

type Kind = PolicySubject['kind'];

const WHOSE = 'whose policies';

export function addPoliciesCommand(program: Command, parts: CliParts): void {
  const policies = program
    .command('policies')
    .description('Which namespaces agents and tasks read and write, and how they rank.')
    .addHelpText(
      'after',
      `
A policy is a JSON file with the fields of the API, all of them optional; "show" prints one as "set" reads it. The policy of a
task replaces that of the agent whole.
${examples([
  'palimpsest policies set agent helper policy.json',
  'palimpsest policies show agent helper',
  'palimpsest policies list',
])}`,
    );
  addList(policies, parts);
  addShow(policies, parts);
  addSet(policies, parts);
  addDelete(policies, parts);
}

function withSubject(command: Command): Command {
  return command
    .addArgument(new Argument('<kind>', 'whose policy').choices(['agent', 'task']))
    .argument('<id>', 'id of the agent or task');
}

function addList(policies: Command, parts: CliParts): void {
  withTenantOptions(listByDefault(policies), WHOSE)
    .description('Show all policies.')
    .addHelpText('after', examples(['palimpsest policies list']))
    .action(async (options: TenantOptions) => {
      const all = await withService(parts, options, (_service, context, governance) =>
        governance.listPolicies(context),
      );
      await parts.stdout.write(
        options.json
          ? `${jsonText(toWire(wirePolicyListSchema, { policies: all }), 2)}\n`
          : policiesTable(all, parts.stdout.columns),
      );
    });
}

function addShow(policies: Command, parts: CliParts): void {
  withTenantOptions(withSubject(policies.command('show')), WHOSE)
    .description('Print a policy as set reads it; with --json, all that is known of it.')
    .addHelpText('after', examples(['palimpsest policies show agent helper > policy.json']))
    .action(async (kind: Kind, id: string, options: TenantOptions) => {
      const policy = await withService(parts, options, async (_service, context, governance) =>
        toWire(wirePolicySchema, await governance.getPolicy(context, { kind, id })),
      );
      const { subject: _subject, created_at: _createdAt, updated_at: _updatedAt, ...draft } = policy;
      await parts.stdout.write(`${jsonText(options.json ? policy : draft, 2)}\n`);
    });
}

function addSet(policies: Command, parts: CliParts): void {
  withTenantOptions(withSubject(policies.command('set')), WHOSE)
    .description('Make the policy of an agent or task, or replace it whole.')
    .argument('<file>', 'JSON; - reads standard input')
    .addHelpText(
      'after',
      examples([
        'palimpsest policies set agent helper policy.json',
        'echo \'{"read_namespaces":["vector.global.*"]}\' | palimpsest policies set task summary -',
      ]),
    )
    .action(async (kind: Kind, id: string, file: string, options: TenantOptions) => {
      const draft = parseContract(policyDraftSchema, await readJson(parts, file));
      const { value, warnings } = await withService(parts, options, (_service, context, governance) =>
        governance.putPolicy(context, { kind, id }, draft),
      );
      if (options.json) {
        const kept = toWire(wireKeptPolicySchema, { policy: value, warnings });
        await parts.stdout.write(`${jsonText(kept, 2)}\n`);
        return;
      }
      await writeWarnings(parts, warnings);
      await parts.stdout.write(`The ${kind} ${printable(id)} has this policy from its next request on\n`);
    });
}

function addDelete(policies: Command, parts: CliParts): void {
  withTenantOptions(withSubject(policies.command('delete')), WHOSE)
    .description('Remove the policy of an agent or task.')
    .addHelpText('after', examples(['palimpsest policies delete agent helper']))
    .action(async (kind: Kind, id: string, options: TenantOptions) => {
      await withService(parts, options, (_service, context, governance) =>
        governance.deletePolicy(context, { kind, id }),
      );
      await parts.stdout.write(
        options.json
          ? `${jsonText({ deleted: { kind, id } })}\n`
          : `Removed the policy of the ${kind} ${printable(id)}\n`,
      );
    });
}

function policiesTable(policies: readonly StoredPolicy[], width: number): string {
  if (policies.length === 0) return 'There are no policies.\n';
  const rows = policies.map((policy) => [
    printable(`${policy.subject.kind} ${policy.subject.id}`),
    printable(policy.readNamespaces.join('\n')),
    printable([policy.writeNamespace ?? [], policy.allowedWriteNamespaces].flat().join('\n')),
    permissionsOf(policy),
  ]);
  return textTable([{ head: 'of' }, { head: 'reads' }, { head: 'writes' }, { head: 'may' }], rows, { width });
}

function permissionsOf({ allowWrite, allowToolWrite, allowToolDelete }: StoredPolicy): string {
  const allowed = [
    allowWrite ? 'keep runs' : [],
    allowToolWrite ? 'write by tools' : [],
    allowToolDelete ? 'delete by tools' : [],
  ].flat();
  return allowed.length === 0 ? 'read only' : allowed.join(', ');
}
