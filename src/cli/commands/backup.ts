import type { Command } from 'commander';
import { loadConfig } from '../../config/config.ts';
import { jsonText } from '../../core/json-text.ts';
import type { BackupSummary, CliParts, OnBackupStep } from '../cli-parts.ts';
import { type StoreOptions, withStoreOptions } from '../common-options.ts';
import { entryCount } from '../format/entries.ts';
import { printable } from '../format/printable.ts';
import { givesUp } from '../gives-up.ts';
import { examples } from '../help.ts';
import { stepBar } from '../step-bar.ts';

interface RestoreOptions {
  readonly dataDir: string;
  readonly json?: boolean;
}

export function addBackupCommand(program: Command, parts: CliParts): void {
  const backup = program
    .command('backup')
    .description(
      'Copy a whole embedded store into one file, while it is served too, and make a store of it again.',
    )
    .addHelpText(
      'after',
      examples([
        'palimpsest backup create memories-2026-05-02.backup',
        'palimpsest backup verify memories-2026-05-02.backup',
        'palimpsest backup restore memories-2026-05-02.backup --data-dir ./restored',
      ]),
    );
  addCreate(backup, parts);
  addVerify(backup, parts);
  addRestore(backup, parts);
}

function addCreate(backup: Command, parts: CliParts): void {
  withStoreOptions(backup.command('create'))
    .description('Write everything in the store, of every tenant, to a new file that only you may read.')
    .argument('<file>', 'file to make; one that exists is not replaced')
    .addHelpText(
      'after',
      examples([
        'palimpsest backup create memories-2026-05-02.backup',
        'palimpsest backup create memories-2026-05-02.backup --data-dir ./memories',
      ]),
    )
    .action(async (file: string, options: StoreOptions) => {
      const config = loadConfig(options);
      const signal = givesUp(parts);
      const summary = await withBar(parts, (onStep) => parts.backup.create(config, file, onStep, signal));
      await tell(
        parts,
        options,
        summary,
        `Backed up ${contentOf(summary)} to ${printable(file)} (${sizeOf(summary)}).`,
      );
    });
}

function addVerify(backup: Command, parts: CliParts): void {
  backup
    .command('verify')
    .description('Read a backup to its end and compare every file in it with its checksum.')
    .argument('<file>', 'as backup create has made it')
    .option('--json', 'answer in JSON, for machines')
    .addHelpText('after', examples(['palimpsest backup verify memories-2026-05-02.backup']))
    .action(async (file: string, options: { readonly json?: boolean }) => {
      const summary = await withBar(parts, (onStep) => parts.backup.verify(file, onStep));
      await tell(
        parts,
        options,
        summary,
        `${printable(file)} is whole: ${contentOf(summary)} of ${summary.createdAt}, ${sizeOf(summary)}.`,
      );
    });
}

function addRestore(backup: Command, parts: CliParts): void {
  backup
    .command('restore')
    .description('Make a new store from a backup. It is checked first; what fails leaves nothing behind.')
    .argument('<file>', 'as backup create has made it')
    .requiredOption('--data-dir <directory>', 'folder to make the store in; it must be empty or not there')
    .option('--json', 'answer in JSON, for machines')
    .addHelpText(
      'after',
      examples(['palimpsest backup restore memories-2026-05-02.backup --data-dir ./restored']),
    )
    .action(async (file: string, options: RestoreOptions) => {
      const signal = givesUp(parts);
      const summary = await withBar(parts, (onStep) =>
        parts.backup.restore(file, options.dataDir, onStep, signal),
      );
      await tell(
        parts,
        options,
        summary,
        `Restored ${contentOf(summary)} of ${summary.createdAt} to ${printable(options.dataDir)}.`,
      );
    });
}

async function withBar(
  parts: CliParts,
  work: (onStep: OnBackupStep) => Promise<BackupSummary>,
): Promise<BackupSummary> {
  const bar = stepBar(parts.stderr);
  try {
    return await work(bar.update);
  } finally {
    bar.stop();
  }
}

async function tell(
  parts: CliParts,
  { json }: { readonly json?: boolean },
  summary: BackupSummary,
  text: string,
): Promise<void> {
  await parts.stdout.write(json ? `${jsonText(inWireForm(summary), 2)}\n` : `${text}\n`);
}

function inWireForm(summary: BackupSummary) {
  return {
    file: summary.file,
    size: summary.size,
    created_at: summary.createdAt,
    product_version: summary.productVersion,
    schema_version: summary.schemaVersion,
    postgres_version: summary.postgresVersion,
    rows: summary.rows,
  };
}

function contentOf({ rows }: BackupSummary): string {
  return entryCount(rows.memories ?? 0);
}

function sizeOf({ size }: BackupSummary): string {
  return `${(size / 1e6).toFixed(1)} MB`;
}
