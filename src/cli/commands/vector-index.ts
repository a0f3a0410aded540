import { type Command, InvalidArgumentError } from 'commander';
import { toWireVectorIndex } from '../../contract/vector-index.ts';
import { jsonText } from '../../core/json-text.ts';
import {
  DEFAULT_HNSW_BUILD,
  HNSW_RANGES,
  type IndexProgress,
  type VectorIndex,
} from '../../core/vector-index.ts';
import type { CliParts } from '../cli-parts.ts';
import { type StoreOptions, withStoreOptions } from '../common-options.ts';
import { printable } from '../format/printable.ts';
import { textTable } from '../format/table.ts';
import { givesUp, stopped } from '../gives-up.ts';
import { examples } from '../help.ts';
import { indexBar } from '../index-progress.ts';
import { listByDefault } from '../list-by-default.ts';
import { withIndexes } from '../with-service.ts';

interface IndexOptions extends StoreOptions {
  readonly model?: string;
}

interface CreateOptions extends IndexOptions {
  readonly m?: number;
  readonly efConstruction?: number;
}

export function addIndexCommand(program: Command, parts: CliParts): void {
  const index = program
    .command('index')
    .description('Approximate indexes (HNSW) of vectors, for very large scopes on PostgreSQL.')
    .addHelpText(
      'after',
      `
Without an index every search measures all vectors of its scope and is exact. With one, searches of large scopes
(hnsw.exact_up_to, default 100,000 vectors) go by the index and say exact: false; all others stay exact.
${examples(['palimpsest index create', 'palimpsest index list', 'palimpsest index drop'])}`,
    );
  addCreate(index, parts);
  addList(index, parts);
  addDrop(index, parts);
}

function withModelOption(command: Command): Command {
  return withStoreOptions(command).option(
    '--model <id>',
    "id of an embedding model (default: the whole store's)",
  );
}

function addCreate(index: Command, parts: CliParts): void {
  withModelOption(index.command('create'))
    .description('Build the index of a model while reads and writes go on. An invalid one is built anew.')
    .option('--m <number>', `connections of a vector (default: ${DEFAULT_HNSW_BUILD.m})`, ranged('m'))
    .option(
      '--ef-construction <number>',
      `candidates while a vector's place is looked for (default: ${DEFAULT_HNSW_BUILD.efConstruction})`,
      ranged('efConstruction'),
    )
    .addHelpText(
      'after',
      examples(['palimpsest index create', 'palimpsest index create --m 24 --ef-construction 128']),
    )
    .action(async (options: CreateOptions) => {
      const built = await withIndexes(parts, options, async (service, context) => {
        const signal = givesUp(parts, stopped('The build was stopped, and nothing of the index is left.'));
        const bar = indexBar(parts.stderr);
        try {
          return await service.create(
            context,
            {
              modelId: options.model,
              m: options.m ?? DEFAULT_HNSW_BUILD.m,
              efConstruction: options.efConstruction ?? DEFAULT_HNSW_BUILD.efConstruction,
            },
            { signal, onProgress: bar.update },
          );
        } finally {
          bar.stop();
        }
      });
      await parts.stdout.write(
        options.json
          ? `${jsonText(toWireVectorIndex(built), 2)}\n`
          : `The model ${printable(built.modelId)} has an index of ${megabytes(built.bytes)}.\n`,
      );
    });
}

function addList(index: Command, parts: CliParts): void {
  withStoreOptions(listByDefault(index).alias('status'))
    .description('Show all indexes, and how far those are that are being built.')
    .addHelpText('after', examples(['palimpsest index list']))
    .action(async (options: StoreOptions) => {
      const indexes = await withIndexes(parts, options, (service, context) => service.list(context));
      await parts.stdout.write(
        options.json
          ? `${jsonText({ indexes: indexes.map(toWireVectorIndex) }, 2)}\n`
          : indexTable(indexes, parts.stdout.columns),
      );
    });
}

function addDrop(index: Command, parts: CliParts): void {
  withModelOption(index.command('drop'))
    .description('Remove the index of a model. Searches are exact again.')
    .addHelpText('after', examples(['palimpsest index drop', 'palimpsest index drop --model hashing-512-v1']))
    .action(async (options: IndexOptions) => {
      const dropped = await withIndexes(parts, options, (service, context) =>
        service.drop(context, options.model),
      );
      await parts.stdout.write(
        options.json
          ? `${jsonText({ dropped })}\n`
          : `${dropped ? 'The index is gone.' : 'The model has no index.'}\n`,
      );
    });
}

function ranged(name: keyof typeof HNSW_RANGES): (text: string) => number {
  const [least, most] = HNSW_RANGES[name];
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

function indexTable(indexes: readonly VectorIndex[], width: number): string {
  if (indexes.length === 0) return 'There are no indexes: every search is exact.\n';
  const rows = indexes.map((index) => [
    printable(index.modelId),
    `${index.dimensions} × ${index.indexedAs}`,
    `m ${index.m}, ef_construction ${index.efConstruction}`,
    megabytes(index.bytes),
    describeState(index),
  ]);
  return textTable(
    [{ head: 'model' }, { head: 'vectors' }, { head: 'built with' }, { head: 'size' }, { head: 'state' }],
    rows,
    { width },
  );
}

function describeState({ state, progress }: VectorIndex): string {
  if (state === 'invalid') return 'invalid: not used; index create builds it anew, index drop removes it';
  return progress === null ? state : `${state}: ${describeProgress(progress)}`;
}

function describeProgress({ phase, share }: IndexProgress): string {
  return share === null ? phase : `${phase}, ${Math.floor(share * 100)} %`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
