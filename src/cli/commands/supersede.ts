import type { Command } from 'commander';
import { memoryDraftSchema } from '../../contract/memory-draft.ts';
import { toWireEntry } from '../../contract/memory-entry.ts';
import { parseContract } from '../../contract/parse-contract.ts';
import { jsonText } from '../../core/json-text.ts';
import type { MemoryService } from '../../service/memory-service.ts';
import type { RequestContext } from '../../service/request-context.ts';
import type { SupersedeWith } from '../../service/supersede-entry.ts';
import type { CliParts } from '../cli-parts.ts';
import {
  type DraftOptions,
  draftOf,
  type StoreOptions,
  withDraftOptions,
  withStoreOptions,
} from '../common-options.ts';
import { examples } from '../help.ts';
import { readContent } from '../read-content.ts';
import { UsageError } from '../usage-error.ts';
import { withService } from '../with-service.ts';

interface SupersedeOptions extends DraftOptions, StoreOptions {
  readonly by?: string;
}

export function addSupersedeCommand(program: Command, parts: CliParts): void {
  const command = program
    .command('supersede')
    .description('Put a newer text in the place of an entry. The old one leaves the search, not the store.')
    .argument('<id>', 'id of the entry that no longer holds')
    .argument('[text]', 'what holds now; - reads standard input');
  withStoreOptions(withDraftOptions(command, 'that of the old entry'))
    .option('--by <id>', 'an entry that exists, instead of a text')
    .addHelpText(
      'after',
      examples(['palimpsest supersede 0198f6a2-7b1c-7d3e-9f00-3b5a6c7d8e9f "We deploy on Thursdays."']),
    )
    .action(async (id: string, text: string | undefined, options: SupersedeOptions) => {
      if ((text === undefined) === (options.by === undefined)) {
        throw new UsageError('Give either the text that holds now, or --by with the id of an entry.');
      }
      const content = text === undefined ? undefined : await readContent(parts, text);
      const result = await withService(parts, options, async (service, context) => {
        const newer = await successorOf(service, context, id, content, options);
        const { superseded, successor } = await service.supersede(context, id, newer);
        const now = service.now();
        return { superseded: toWireEntry(superseded, now), successor: toWireEntry(successor, now) };
      });
      await parts.stdout.write(
        options.json
          ? `${jsonText(result, 2)}\n`
          : `Superseded ${result.superseded.id} by ${result.successor.id}\n`,
      );
    });
}

async function successorOf(
  service: MemoryService,
  context: RequestContext,
  oldId: string,
  content: string | undefined,
  options: SupersedeOptions,
): Promise<SupersedeWith> {
  if (options.by !== undefined) return { id: options.by };
  const { namespace } = await service.get(context, oldId);
  return { draft: parseContract(memoryDraftSchema, draftOf(content ?? '', namespace, options)) };
}
