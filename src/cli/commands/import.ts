import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { ImportReader } from '../../contract/import-reader.ts';
import { PalimpsestError } from '../../core/errors.ts';
import { jsonText } from '../../core/json-text.ts';
import type { ImportProgress } from '../../service/import-entries.ts';
import { byteProgress } from '../byte-progress.ts';
import type { CliParts } from '../cli-parts.ts';
import { type StoreOptions, withStoreOptions } from '../common-options.ts';
import { examples } from '../help.ts';
import { UsageError } from '../usage-error.ts';
import { withService } from '../with-service.ts';

interface ImportOptions extends StoreOptions {
  readonly namespace?: string;
}

export function addImportCommand(program: Command, parts: CliParts): void {
  withStoreOptions(program.command('import'))
    .description('Store the entries of a JSON Lines file. Running it again refreshes them.')
    .argument(
      '<file>',
      'an export, or lines of {id, namespace, content, observed_at, speaker, metadata}; - reads standard input',
    )
    .option('-n, --namespace <path>', 'for lines that name none')
    .addHelpText(
      'after',
      `
A line's id becomes the ref of its source, speaker becomes metadata.speaker. Ids, times of writing and
confirmations are this store's own and not taken from a file. A content longer than an entry can hold (64 KiB)
becomes several entries, with part and parts in their metadata. The import stops at the first line that is
refused; what was stored before it stays.
${examples(['palimpsest import corpus.jsonl', 'palimpsest export - | palimpsest import - --data-dir ./copy'])}`,
    )
    .action(async (file: string, options: ImportOptions) => {
      const size = file === '-' ? null : await sizeOf(file);
      const progress = await importStream(parts, options, openInput(parts, file), size);
      await parts.stdout.write(options.json ? `${jsonText(progress)}\n` : `${summary(progress)}\n`);
    });
}

/** Says what is wrong before a store is opened for nothing. */
async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new UsageError(`${file} is a directory.`);
    return found.size;
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error)) throw error;
    throw new UsageError(`${file} can't be read: ${error.message}.`);
  }
}

function openInput(parts: CliParts, file: string): AsyncIterable<Uint8Array> {
  return file === '-' ? parts.stdin : createReadStream(file);
}

async function importStream(
  parts: CliParts,
  options: ImportOptions,
  input: AsyncIterable<Uint8Array>,
  size: number | null,
): Promise<ImportProgress> {
  const bar = byteProgress(parts.stderr, size);
  const reader = new ImportReader(options.namespace);
  let progress: ImportProgress = { stored: 0, created: 0, refreshed: 0 };
  try {
    await withService(parts, options, async (service, context) => {
      for await (const reached of service.importEntries(context, reader.drafts(input))) {
        progress = reached;
        reader.batchStored();
        bar.update({ bytes: reader.position, entries: progress.stored });
      }
    });
    return progress;
  } catch (error) {
    throw PalimpsestError.isInstance(error) ? reader.located(error, progress) : error;
  } finally {
    bar.stop();
  }
}

function summary({ stored, created, refreshed }: ImportProgress): string {
  return `Imported ${stored} entries: ${created} new, ${refreshed} refreshed.`;
}
