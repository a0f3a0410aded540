import type { Command } from 'commander';
import { toWireListPage } from '../../contract/list-page.ts';
import { LIFECYCLES, listRequestSchema } from '../../contract/list-request.ts';
import { parseContract } from '../../contract/parse-contract.ts';
import { jsonText } from '../../core/json-text.ts';
import type { CliParts } from '../cli-parts.ts';
import {
  type ScopeOptions,
  type StoreOptions,
  scopeOf,
  withScopeOptions,
  withStoreOptions,
} from '../common-options.ts';
import { entryTable } from '../format/entries.ts';
import { examples } from '../help.ts';
import { numberOption } from '../option-values.ts';
import { withService } from '../with-service.ts';

interface ListOptions extends ScopeOptions, StoreOptions {
  readonly lifecycle?: string;
  readonly text?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

export function addListCommand(program: Command, parts: CliParts): void {
  withStoreOptions(withScopeOptions(program.command('list')))
    .description('List entries, newest first.')
    .option('--lifecycle <part>', `${LIFECYCLES.join(', ')} (default: live)`)
    .option('--text <words>', 'entries whose text holds all of these words')
    .option('--limit <number>', 'entries per page, 1 to 500 (default: 50)', numberOption)
    .option('--cursor <cursor>', 'the next page, as the page before named it')
    .addHelpText(
      'after',
      examples([
        'palimpsest list --namespace "team.*" --type decision',
        'palimpsest list --lifecycle deleted',
      ]),
    )
    .action(async (options: ListOptions) => {
      const request = parseContract(listRequestSchema, {
        ...scopeOf(options),
        lifecycle: options.lifecycle,
        text: options.text,
        limit: options.limit,
        cursor: options.cursor,
      });
      const page = await withService(parts, options, async (service, context) =>
        toWireListPage(await service.list(context, request), service.now()),
      );
      if (options.json) {
        await parts.stdout.write(`${jsonText(page, 2)}\n`);
        return;
      }
      const table =
        page.entries.length === 0 ? 'Nothing found.\n' : entryTable(page.entries, parts.stdout.columns);
      const next = page.next_cursor === null ? '' : `More with --cursor ${page.next_cursor}\n`;
      await parts.stdout.write(`${table}${next}`);
    });
}
