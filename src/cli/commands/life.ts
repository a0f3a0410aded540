import type { Command } from 'commander';
import { toWireEntry } from '../../contract/memory-entry.ts';
import { jsonText } from '../../core/json-text.ts';
import type { MemoryEntry } from '../../core/types.ts';
import type { MemoryService } from '../../service/memory-service.ts';
import type { RequestContext } from '../../service/request-context.ts';
import type { CliParts } from '../cli-parts.ts';
import { type StoreOptions, withStoreOptions } from '../common-options.ts';
import { examples } from '../help.ts';
import { UsageError } from '../usage-error.ts';
import { withService } from '../with-service.ts';

/** The commands that move one entry through its life. */

export function addConfirmCommand(program: Command, parts: CliParts): void {
  withStoreOptions(program.command('confirm'))
    .description('Mark an entry as verified by a person.')
    .argument('<id>', 'id of the entry')
    .option('--undo', 'take the confirmation back')
    .addHelpText(
      'after',
      examples([
        'palimpsest confirm 0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f',
        'palimpsest confirm 0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f --undo',
      ]),
    )
    .action(async (id: string, options: StoreOptions & { readonly undo?: boolean }) => {
      if (options.undo)
        await change(parts, options, 'No longer confirmed:', (service, context) =>
          service.unconfirm(context, id),
        );
      else await change(parts, options, 'Confirmed', (service, context) => service.confirm(context, id));
    });
}

export function addForgetCommand(program: Command, parts: CliParts): void {
  withStoreOptions(program.command('forget'))
    .description('Take an entry out of every search. It stays stored: restore brings it back.')
    .argument('<id>', 'id of the entry')
    .addHelpText('after', examples(['palimpsest forget 0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f']))
    .action(async (id: string, options: StoreOptions) => {
      await change(parts, options, 'Forgot', (service, context) => service.forget(context, id));
    });
}

export function addRestoreCommand(program: Command, parts: CliParts): void {
  withStoreOptions(program.command('restore'))
    .description('Bring a forgotten entry back.')
    .argument('<id>', 'id of the entry')
    .addHelpText('after', examples(['palimpsest restore 0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f']))
    .action(async (id: string, options: StoreOptions) => {
      await change(parts, options, 'Restored', (service, context) => service.restore(context, id));
    });
}

export function addPurgeCommand(program: Command, parts: CliParts): void {
  withStoreOptions(program.command('purge'))
    .description('Remove an entry and its embeddings from disk, for good.')
    .argument('<id>', 'id of the entry')
    .option('--yes', 'needed, since a purge can not be undone')
    .addHelpText('after', examples(['palimpsest purge 0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f --yes']))
    .action(async (id: string, options: StoreOptions & { readonly yes?: boolean }) => {
      if (!options.yes) {
        throw new UsageError(
          'A purge can not be undone. Add --yes to purge, or use forget, which can be undone.',
        );
      }
      await withService(parts, options, (service, context) => service.purge(context, id));
      await parts.stdout.write(options.json ? `${jsonText({ purged: id })}\n` : `Purged ${id}\n`);
    });
}

async function change(
  parts: CliParts,
  options: StoreOptions,
  done: string,
  work: (service: MemoryService, context: RequestContext) => Promise<MemoryEntry>,
): Promise<void> {
  const entry = await withService(parts, options, async (service, context) =>
    toWireEntry(await work(service, context), service.now()),
  );
  await parts.stdout.write(
    options.json ? `${jsonText(entry, 2)}\n` : `${done} ${entry.id} in ${entry.namespace}\n`,
  );
}
