import type { Command } from 'commander';
import { keyDraftSchema, wireKeySchema, wireNewKeySchema } from '../../contract/api-key.ts';
import { parseContract } from '../../contract/parse-contract.ts';
import { toWire } from '../../contract/wire-form.ts';
import { type ApiKey, KEY_SCOPES } from '../../core/governance.ts';
import { jsonText } from '../../core/json-text.ts';
import type { CliParts } from '../cli-parts.ts';
import { printable } from '../format/printable.ts';
import { textTable } from '../format/table.ts';
import { examples } from '../help.ts';
import { listByDefault } from '../list-by-default.ts';
import { repeated } from '../option-values.ts';
import { type TenantOptions, withTenantOptions } from '../tenant-options.ts';
import { withService } from '../with-service.ts';

interface CreateOptions extends TenantOptions {
  readonly user: string;
  readonly name: string;
  readonly scope?: string[];
  readonly expiresAt?: string;
}

/** What a key is good for unless it is said: everything a user does, and nothing that governs the tenant. */
const DEFAULT_SCOPES = KEY_SCOPES.filter((scope) => scope !== 'admin');

export function addKeysCommand(program: Command, parts: CliParts): void {
  const keys = program
    .command('keys')
    .description('API keys that a server on a network knows its users by.')
    .addHelpText(
      'after',
      examples([
        'palimpsest keys create --user ada --name "Ada\'s notebook"',
        'palimpsest keys create --user root --name governance --scope admin',
        'palimpsest keys list',
        'palimpsest keys revoke 01981c5e-7d7f-7a35-9b58-3f2f5d0f9a4e',
      ]),
    );
  addCreate(keys, parts);
  addList(keys, parts);
  addRevoke(keys, parts);
}

function withKeyOptions(command: Command): Command {
  return withTenantOptions(command, 'whose keys');
}

function addCreate(keys: Command, parts: CliParts): void {
  withKeyOptions(keys.command('create'))
    .description('Make a key. It is shown this once; the store keeps its hash alone.')
    .requiredOption('--user <id>', 'the user who asks with it, one segment of a namespace')
    .requiredOption('--name <text>', 'what people call it')
    .option(
      '--scope <word>',
      `${KEY_SCOPES.join(', ')}; may be repeated (default: ${DEFAULT_SCOPES.join(', ')})`,
      repeated,
    )
    .option('--expires-at <time>', 'when it stops working, such as 2027-01-01T00:00:00Z (default: never)')
    .addHelpText(
      'after',
      examples([
        'palimpsest keys create --user ada --name "Ada\'s notebook"',
        'palimpsest keys create --user helper --name "read only" --scope read --expires-at 2027-01-01T00:00:00Z',
      ]),
    )
    .action(async (options: CreateOptions) => {
      const draft = parseContract(keyDraftSchema, {
        user_id: options.user,
        name: options.name,
        scopes: options.scope ?? DEFAULT_SCOPES,
        expires_at: options.expiresAt,
      });
      const made = await withService(parts, options, (_service, context, governance) =>
        governance.createKey(context, draft),
      );
      if (options.json) {
        await parts.stdout.write(`${jsonText(toWire(wireNewKeySchema, made), 2)}\n`);
        return;
      }
      // The secret alone on standard output, so that KEY=$(palimpsest keys create …) holds it.
      await parts.stdout.write(`${made.secret}\n`);
      await parts.stderr.write(
        `This key of ${printable(made.key.userId)} is shown only now. Its id is ${made.key.id}.\n`,
      );
    });
}

function addList(keys: Command, parts: CliParts): void {
  withKeyOptions(listByDefault(keys))
    .description('Show all keys, newest first; never their secrets.')
    .addHelpText('after', examples(['palimpsest keys list', 'palimpsest keys list --tenant acme --json']))
    .action(async (options: TenantOptions) => {
      const all = await withService(parts, options, (_service, context, governance) =>
        governance.listKeys(context),
      );
      const shown = all.map((key) => toWire(wireKeySchema, key));
      await parts.stdout.write(
        options.json ? `${jsonText({ keys: shown }, 2)}\n` : keysTable(all, parts.stdout.columns),
      );
    });
}

function addRevoke(keys: Command, parts: CliParts): void {
  withKeyOptions(keys.command('revoke'))
    .description('End a key for good. Running servers take up to five seconds to notice.')
    .argument('<id>', 'as keys list shows it')
    .addHelpText('after', examples(['palimpsest keys revoke 01981c5e-7d7f-7a35-9b58-3f2f5d0f9a4e']))
    .action(async (id: string, options: TenantOptions) => {
      const revoked = await withService(parts, options, (_service, context, governance) =>
        governance.revokeKey(context, id),
      );
      await parts.stdout.write(
        options.json
          ? `${jsonText(toWire(wireKeySchema, revoked), 2)}\n`
          : `Revoked ${printable(revoked.name)} of ${printable(revoked.userId)}\n`,
      );
    });
}

function keysTable(keys: readonly ApiKey[], width: number): string {
  if (keys.length === 0) return 'There are no keys.\n';
  const rows = keys.map((key) => [
    key.id,
    printable(key.userId),
    printable(key.name),
    key.scopes.join(', '),
    stateOf(key),
  ]);
  return textTable(
    [{ head: 'id' }, { head: 'user' }, { head: 'name' }, { head: 'scopes' }, { head: 'state' }],
    rows,
    { width },
  );
}

function stateOf({ revokedAt, expiresAt, lastUsedAt }: ApiKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt.toISOString()}`;
  const used = lastUsedAt === null ? 'never used' : `used ${lastUsedAt.toISOString()}`;
  return expiresAt === null ? used : `${used}, ends ${expiresAt.toISOString()}`;
}
