import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import { exportRequestSchema, LIFECYCLES } from '../../contract/list-request.ts';
import { toWireEntry } from '../../contract/memory-entry.ts';
import { parseContract } from '../../contract/parse-contract.ts';
import { hasCode } from '../../core/errors.ts';
import { jsonText } from '../../core/json-text.ts';
import { byteProgress } from '../byte-progress.ts';
import type { CliParts } from '../cli-parts.ts';
import {
  type ScopeOptions,
  type StoreOptions,
  scopeOf,
  withScopeOptions,
  withStoreOptions,
} from '../common-options.ts';
import { examples } from '../help.ts';
import { UsageError } from '../usage-error.ts';
import { withService } from '../with-service.ts';

interface ExportOptions extends ScopeOptions, StoreOptions {
  readonly lifecycle?: string;
  readonly force?: boolean;
}

/** Lines that are handed on together: one system call each would cost more than the reading. */
const LINES_PER_WRITE = 100;

export function addExportCommand(program: Command, parts: CliParts): void {
  withStoreOptions(withScopeOptions(program.command('export')))
    .description('Write entries as JSON Lines, newest first.')
    .argument('<file>', 'file to make; - writes to standard output')
    .option('--lifecycle <part>', `${LIFECYCLES.join(', ')} (default: live)`)
    .option('--force', 'replace a file that exists')
    .addHelpText(
      'after',
      examples([
        'palimpsest export memories.jsonl',
        'palimpsest export - --namespace "team.*" | gzip > team.jsonl.gz',
      ]),
    )
    .action(async (file: string, options: ExportOptions) => {
      const request = parseContract(exportRequestSchema, {
        ...scopeOf(options),
        lifecycle: options.lifecycle,
      });
      const entries = await withOutput(parts, file, options, (write) =>
        withService(parts, options, async (service, context) => {
          const now = service.now();
          const bar = byteProgress(parts.stderr, null);
          let lines: string[] = [];
          let count = 0;
          let bytes = 0;
          const flush = async () => {
            const text = lines.join('');
            lines = [];
            bytes += Buffer.byteLength(text);
            if (text !== '') await write(text);
            bar.update({ bytes, entries: count });
          };
          try {
            for await (const entry of service.exportEntries(context, request)) {
              lines.push(`${jsonText(toWireEntry(entry, now))}\n`);
              count += 1;
              if (lines.length === LINES_PER_WRITE) await flush();
            }
            await flush();
          } finally {
            bar.stop();
          }
          return count;
        }),
      );
      // Standard output holds the export itself.
      const told = file === '-' ? parts.stderr : parts.stdout;
      await told.write(
        options.json ? `${jsonText({ exported: entries })}\n` : `Exported ${entries} entries.\n`,
      );
    });
}

type Write = (text: string) => Promise<void>;

/** Hands the work a way to write, to a new file or to standard output. */
async function withOutput<T>(
  parts: CliParts,
  file: string,
  options: ExportOptions,
  work: (write: Write) => Promise<T>,
): Promise<T> {
  if (file === '-') return work((text) => parts.stdout.write(text));
  const handle = await openNew(file, options.force === true);
  try {
    const stream = createWriteStream(file, { fd: handle, autoClose: false });
    const result = await work(
      (text) =>
        new Promise((resolve, reject) => {
          stream.write(text, (error) => (error ? reject(error) : resolve()));
        }),
    );
    await handle.sync();
    return result;
  } finally {
    await handle.close();
  }
}

async function openNew(file: string, mayReplace: boolean) {
  try {
    return await open(file, mayReplace ? 'w' : 'wx', 0o600);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const exists = hasCode(error, 'EEXIST');
    throw new UsageError(
      exists ? `${file} exists. Add --force to replace it.` : `${file} can't be written: ${error.message}.`,
    );
  }
}
