import { open } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Command } from 'commander';
import { ImportReader } from '../../contract/import-reader.ts';
import { PalimpsestError, reasonOf } from '../../core/errors.ts';
import { jsonText } from '../../core/json-text.ts';
import type { ImportProgress } from '../../service/import-entries.ts';
import { byteProgress } from '../byte-progress.ts';
import type { CliParts } from '../cli-parts.ts';
import { type StoreOptions, withStoreOptions } from '../common-options.ts';
import { entryCount } from '../format/entries.ts';
import { givesUp, stopped } from '../gives-up.ts';
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
      const progress = await importStream(parts, options, await openInput(parts, file));
      await parts.stdout.write(options.json ? `${jsonText(progress)}\n` : `${summary(progress)}\n`);
    });
}

interface Input {
  readonly stream: Readable;
  /** Bytes in all; null where nobody knows. */
  readonly size: number | null;
}

/** Says what is wrong before a store is opened for nothing. */
async function openInput(parts: CliParts, file: string): Promise<Input> {
  if (file === '-') return { stream: parts.stdin, size: null };
  try {
    const handle = await open(file);
    const found = await handle.stat();
    if (!found.isDirectory()) {
      return { stream: handle.createReadStream(), size: found.isFile() ? found.size : null };
    }
    await handle.close();
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${reasonOf(error)}.`);
  }
  throw new UsageError(`${file} is a directory.`);
}

async function importStream(
  parts: CliParts,
  options: ImportOptions,
  { stream, size }: Input,
): Promise<ImportProgress> {
  const signal = givesUp(parts);
  const input = addAbortSignal(signal, stream);
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
    if (signal.aborted) throw importStopped(progress, error);
    throw PalimpsestError.isInstance(error) ? reader.located(error, progress) : error;
  } finally {
    bar.stop();
  }
}

function summary({ stored, created, refreshed }: ImportProgress): string {
  return `Imported ${entryCount(stored)}: ${created} new, ${refreshed} refreshed.`;
}

function importStopped({ stored }: ImportProgress, cause: unknown): PalimpsestError {
  return stopped(
    `The import was stopped. Stored before that: ${stored}. Running the import again refreshes those.`,
    cause,
  );
}
