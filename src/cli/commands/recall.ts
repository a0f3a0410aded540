import type { Command } from 'commander';
import { parseContract } from '../../contract/parse-contract.ts';
import { toWireRecallAnswer } from '../../contract/recall-answer.ts';
import { recallRequestSchema } from '../../contract/recall-request.ts';
import { jsonText } from '../../core/json-text.ts';
import type { CliParts } from '../cli-parts.ts';
import {
  type ScopeOptions,
  type StoreOptions,
  scopeOf,
  withScopeOptions,
  withStoreOptions,
} from '../common-options.ts';
import { explanation, recallTable } from '../format/recall.ts';
import { examples } from '../help.ts';
import { numberOption } from '../option-values.ts';
import { withService } from '../with-service.ts';

interface RecallOptions extends ScopeOptions, StoreOptions {
  readonly profile?: string;
  readonly topK?: number;
  readonly minScore?: number;
  readonly relativeCutoff?: number;
  readonly explain?: boolean;
}

export function addRecallCommand(program: Command, parts: CliParts): void {
  const command = program
    .command('recall')
    .description('Find what is worth remembering for a question. Without one: the newest entries.')
    .argument('[query]', 'what to look for');
  withStoreOptions(withScopeOptions(command))
    .option('--profile <name>', 'ranking profile: boosted or weighted (default: boosted)')
    .option('-k, --top-k <number>', 'hits at most, 1 to 200 (default: 5)', numberOption)
    .option(
      '--min-score <number>',
      'floor on the score; 0 lets all pass (default: boosted 0.4)',
      numberOption,
    )
    .option(
      '--relative-cutoff <number>',
      'floor as a fraction of the best score; 0 disables (default: boosted 0.7)',
      numberOption,
    )
    .option('--explain', 'show how every score came about, and what was cut and why')
    .addHelpText(
      'after',
      examples([
        'palimpsest recall "When do we deploy?"',
        'palimpsest recall "When do we deploy?" --namespace "team.*" --profile weighted --explain',
        'palimpsest recall "budget" --type decision --where \'{"year":{"gte":2025}}\' --json',
      ]),
    )
    .action(async (query: string | undefined, options: RecallOptions) => {
      const request = parseContract(recallRequestSchema, {
        query,
        ...scopeOf(options),
        profile: options.profile,
        top_k: options.topK,
        min_score: options.minScore,
        relative_cutoff: options.relativeCutoff,
        explain: options.explain,
      });
      const result = await withService(parts, options, (service, context) =>
        service.recall(context, request),
      );
      // A person is told why nothing was found, so the trace is at hand there in any case.
      const answer = toWireRecallAnswer(result, { explain: request.explain === true || !options.json });
      if (options.json) {
        await parts.stdout.write(`${jsonText(answer, 2)}\n`);
        return;
      }
      const { columns } = parts.stdout;
      await parts.stdout.write(recallTable(answer, columns));
      if (request.explain) await parts.stdout.write(`\n${explanation(answer, columns)}`);
    });
}
