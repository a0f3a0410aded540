import type { Command } from 'commander';
import { exportRequestSchema, LIFECYCLES } from '../../contract/list-request.ts';
import { toWireEntry } from '../../contract/memory-entry.ts';
import { parseContract } from '../../contract/parse-contract.ts';
import { jsonText } from '../../core/json-text.ts';
import type { ExportRequest } from '../../service/export-entries.ts';
import { byteProgress } from '../byte-progress.ts';
import type { CliParts } from '../cli-parts.ts';
import {
  type ScopeOptions,
  type StoreOptions,
  scopeOf,
  withScopeOptions,
  withStoreOptions,
} from '../common-options.ts';
import { entryCount } from '../format/entries.ts';
import { givesUp, stopped } from '../gives-up.ts';
import { examples } from '../help.ts';
import { withService } from '../with-service.ts';
import { type Write, writeWhole } from '../write-whole.ts';

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
      const write = (text: string) => parts.stdout.write(text);
      const entries =
        file === '-'
          ? await exportTo(write, parts, options, request)
          : await exportToFile(file, parts, options, request);
      // Standard output holds the export itself.
      const told = file === '-' ? parts.stderr : parts.stdout;
      await told.write(
        options.json ? `${jsonText({ exported: entries })}\n` : `Exported ${entryCount(entries)}.\n`,
      );
    });
}

/** Stopped on the way, there is no file, or the one that was there before. */
function exportToFile(
  file: string,
  parts: CliParts,
  options: ExportOptions,
  request: ExportRequest,
): Promise<number> {
  const signal = givesUp(parts);
  return writeWhole(file, options.force === true, (write) =>
    exportTo(write, parts, options, request, signal),
  );
}

/** @returns How many entries were written. */
function exportTo(
  write: Write,
  parts: CliParts,
  options: StoreOptions,
  request: ExportRequest,
  signal?: AbortSignal,
): Promise<number> {
  return withService(parts, options, async (service, context) => {
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
        if (signal?.aborted) throw stopped('The export was stopped, and nothing of it was kept.');
        lines.push(`${jsonText(toWireEntry(entry, now))}\n`);
        count += 1;
        if (lines.length === LINES_PER_WRITE) await flush();
      }
      await flush();
    } finally {
      bar.stop();
    }
    return count;
  });
}
