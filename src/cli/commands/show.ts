import type { Command } from 'commander';
import { toWireEntry } from '../../contract/memory-entry.ts';
import { jsonText } from '../../core/json-text.ts';
import type { CliParts } from '../cli-parts.ts';
import { type StoreOptions, withStoreOptions } from '../common-options.ts';
import { entrySheet, entryTable } from '../format/entries.ts';
import { examples } from '../help.ts';
import { withService } from '../with-service.ts';

interface ShowOptions extends StoreOptions {
  readonly history?: boolean;
}

export function addShowCommand(program: Command, parts: CliParts): void {
  withStoreOptions(program.command('show'))
    .description('Show an entry, whatever has become of it.')
    .argument('<id>', 'id of the entry')
    .option('--history', 'show the whole chain of entries that superseded each other, oldest first')
    .addHelpText('after', examples(['palimpsest show 0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f --history']))
    .action(async (id: string, options: ShowOptions) => {
      if (options.history) return showHistory(parts, id, options);
      const entry = await withService(parts, options, async (service, context) =>
        toWireEntry(await service.get(context, id), service.now()),
      );
      await parts.stdout.write(options.json ? `${jsonText(entry, 2)}\n` : entrySheet(entry));
    });
}

async function showHistory(parts: CliParts, id: string, options: ShowOptions): Promise<void> {
  const history = await withService(parts, options, async (service, context) => {
    const { entries, missing } = await service.history(context, id);
    const now = service.now();
    return { entries: entries.map((entry) => toWireEntry(entry, now)), missing };
  });
  if (options.json) {
    await parts.stdout.write(`${jsonText(history, 2)}\n`);
    return;
  }
  await parts.stdout.write(entryTable(history.entries, parts.stdout.columns));
  if (history.missing.length > 0) {
    await parts.stdout.write(`No longer readable: ${history.missing.join(', ')}\n`);
  }
}
