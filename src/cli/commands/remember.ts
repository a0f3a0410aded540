import type { Command } from 'commander';
import { memoryDraftSchema } from '../../contract/memory-draft.ts';
import { parseContract } from '../../contract/parse-contract.ts';
import { toWireWriteResult } from '../../contract/write-result.ts';
import { jsonText } from '../../core/json-text.ts';
import type { CliParts } from '../cli-parts.ts';
import {
  DEFAULT_NAMESPACE,
  type DraftOptions,
  draftOf,
  type StoreOptions,
  withDraftOptions,
  withStoreOptions,
} from '../common-options.ts';
import { examples } from '../help.ts';
import { readContent } from '../read-content.ts';
import { withService } from '../with-service.ts';

export function addRememberCommand(program: Command, parts: CliParts): void {
  const command = program
    .command('remember')
    .description('Store a text. The same text in the same namespace refreshes the entry that has it.')
    .argument('<text>', 'what to remember; - reads standard input');
  withStoreOptions(withDraftOptions(command, DEFAULT_NAMESPACE))
    .addHelpText(
      'after',
      examples([
        'palimpsest remember "We deploy on Tuesdays." --type decision --importance 0.9',
        'palimpsest remember - --namespace team.atlas.notes --tag minutes < minutes.txt',
      ]),
    )
    .action(async (text: string, options: DraftOptions & StoreOptions) => {
      const content = await readContent(parts, text);
      const draft = parseContract(memoryDraftSchema, draftOf(content, DEFAULT_NAMESPACE, options));
      const result = await withService(parts, options, async (service, context) =>
        toWireWriteResult(await service.remember(context, draft), service.now()),
      );
      const { entry, operation } = result;
      await parts.stdout.write(
        options.json
          ? `${jsonText(result, 2)}\n`
          : `${operation === 'create' ? 'Remembered' : 'Refreshed'} ${entry.id} in ${entry.namespace}\n`,
      );
    });
}
