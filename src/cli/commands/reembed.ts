import { type Command, InvalidArgumentError } from 'commander';
import { toWireEmbeddingJob, toWireEmbeddingStatus } from '../../contract/embedding-job.ts';
import type { ChangeVerification, EmbeddingJob, JobProgress } from '../../core/embedding-store.ts';
import { jsonText } from '../../core/json-text.ts';
import type { JsonObject } from '../../core/types.ts';
import type { EmbeddingStatus, ReembedService } from '../../service/reembed-service.ts';
import type { RequestContext } from '../../service/request-context.ts';
import type { CliParts } from '../cli-parts.ts';
import { entryCount } from '../format/entries.ts';
import { printable } from '../format/printable.ts';
import { textTable } from '../format/table.ts';
import { givesUp } from '../gives-up.ts';
import { examples } from '../help.ts';
import { duration, jobBar, stateOf } from '../job-progress.ts';
import { jsonObjectOption } from '../option-values.ts';
import { type TenantOptions, withTenantOptions } from '../tenant-options.ts';
import { UsageError } from '../usage-error.ts';
import { withReembed } from '../with-service.ts';

interface ChangeOptions extends TenantOptions {
  readonly to?: string | JsonObject;
  readonly namespace?: string;
  readonly workers?: number;
  readonly verifyOnly?: boolean;
  readonly keepOld?: boolean;
  readonly purgeOld?: boolean;
  readonly acceptRefused?: boolean;
}

const WHOSE = 'whose entries';

export function addReembedCommand(program: Command, parts: CliParts): void {
  const reembed = withTenantOptions(program.command('reembed'), WHOSE)
    .description('Change the embedding model while everything runs, and watch or undo a change.')
    .option(
      '--to <provider>',
      'provider to change to: its name, or its configuration as JSON (default: the configured one)',
      providerOption,
    )
    .option(
      '-n, --namespace <scope>',
      'a namespace, or all below one such as team.* (default: the whole store)',
    )
    .option('--workers <number>', 'batches at a time (default: 1)', workersOption)
    .option('--verify-only', 'embed and compare both models, but do not switch')
    .option('--keep-old', 'keep the old vectors for a rollback (default)')
    .option('--purge-old', 'remove the old vectors after the switch')
    .option(
      '--accept-refused',
      'switch although the model refuses some entries, which are then found no more',
    )
    .addHelpText(
      'after',
      `
Every entry is embedded under the new model beside the old one. Searches use the old model until that is complete and
verified; then they switch, at once in every process. The command may be stopped and given again, on several machines
at a time; servers go on with it by themselves.
${examples([
  'palimpsest reembed --to minilm',
  'palimpsest reembed --to \'{"provider":"ollama","model":"nomic-embed-text"}\' --workers 4',
  'palimpsest reembed status',
  'palimpsest reembed rollback',
  'palimpsest reembed --to minilm --tenant acme',
])}`,
    )
    .action((options: ChangeOptions) => change(parts, options));
  addStatus(reembed, parts);
  addJobCommand(reembed, parts, {
    name: 'pause',
    description: 'Stop all workers of a change for now.',
    work: (service, context, job) => service.pause(context, job),
  });
  addJobCommand(reembed, parts, {
    name: 'resume',
    description: 'Let a paused change go on.',
    work: (service, context, job) => service.resume(context, job),
  });
  addJobCommand(reembed, parts, {
    name: 'cancel',
    description: 'Give a change up. Searches stay with the model they use.',
    work: (service, context, job) => service.cancel(context, job),
  });
  addRollback(reembed, parts);
  addPurge(reembed, parts);
}

function providerOption(text: string): string | JsonObject {
  // What JSON.parse gives is JSON.
  return text.trimStart().startsWith('{') ? (jsonObjectOption(text) as JsonObject) : text;
}

const MAX_WORKERS = 64;

function workersOption(text: string): number {
  const workers = Number(text);
  if (/^\d+$/.test(text) && workers >= 1 && workers <= MAX_WORKERS) return workers;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_WORKERS}.`);
}

async function change(parts: CliParts, options: ChangeOptions): Promise<void> {
  if (options.keepOld === true && options.purgeOld === true) {
    throw new UsageError('--keep-old and --purge-old contradict each other.');
  }
  await withReembed(parts, options, async (service, context) => {
    const started = await service.start(context, {
      to: options.to,
      scope: options.namespace,
      switchesItself: options.verifyOnly !== true,
      purgesOld: options.purgeOld ?? false,
    });
    const result = await runWithBar(parts, service, context, started, options);
    const job = await settle(service, context, result.job, options);
    await writeJob(parts, options, job, result.progress);
  });
}

/** Works on a job until it is over, or until somebody stops the command. */
async function runWithBar(
  parts: CliParts,
  service: ReembedService,
  context: RequestContext,
  { id }: EmbeddingJob,
  { workers }: Pick<ChangeOptions, 'workers'>,
): Promise<{ readonly job: EmbeddingJob; readonly progress: JobProgress }> {
  const bar = jobBar(parts.stderr);
  try {
    return await service.run(context, id, { workers, signal: givesUp(parts), onProgress: bar.update });
  } finally {
    bar.stop();
  }
}

/** Verifies or switches what is complete and did not switch by itself. */
async function settle(
  service: ReembedService,
  context: RequestContext,
  job: EmbeddingJob,
  options: ChangeOptions,
): Promise<EmbeddingJob> {
  if (job.status !== 'running') return job;
  if (options.verifyOnly === true) {
    return { ...job, verification: await service.verify(context, job.id) };
  }
  const { settled, entries } = await progressOf(service, context, job);
  // It was stopped before its end.
  if (!job.isScanned || settled < entries) return job;
  return service.switchOver(context, job.id, { acceptsRefused: options.acceptRefused });
}

async function progressOf(
  service: ReembedService,
  context: RequestContext,
  { id }: EmbeddingJob,
): Promise<Pick<JobProgress, 'settled' | 'entries'>> {
  const { jobs } = await service.status(context);
  return jobs.find(({ job }) => job.id === id)?.progress ?? { settled: 0, entries: Number.POSITIVE_INFINITY };
}

async function writeJob(
  parts: CliParts,
  options: TenantOptions,
  job: EmbeddingJob,
  progress?: JobProgress,
): Promise<void> {
  await parts.stdout.write(
    options.json
      ? `${jsonText(toWireEmbeddingJob(job, progress), 2)}\n`
      : `${describeJob(job, progress).join('\n')}\n`,
  );
}

function describeJob(job: EmbeddingJob, progress: JobProgress | undefined): string[] {
  const { id, scope, model, status, previousModel, verification } = job;
  const place = scope === '*' ? 'the whole store' : printable(scope);
  const lines = [`Job ${id}: ${place} to ${printable(model.modelId)}`];
  if (verification !== null) lines.push(...describeVerification(verification));
  if (status === 'done') {
    lines.push(
      previousModel === null
        ? 'Searches now use it.'
        : `Searches now use it instead of ${printable(previousModel.modelId)}.`,
    );
  } else if (status === 'running' && progress !== undefined) {
    lines.push(
      `${progress.settled} of ${progress.entries} entries; searches use the model they used before.`,
    );
  } else lines.push(`It is ${status}.`);
  return lines;
}

function describeVerification({ counts, overlap }: ChangeVerification): string[] {
  const { entries, vectors, empty, refused, waiting, unseen } = counts;
  const rest = [
    [empty, 'with nothing to embed'],
    [refused, 'refused by the model'],
    [waiting, 'waiting'],
    [unseen, 'not looked at'],
  ].flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`]));
  const counted = [`${entryCount(entries)}: ${vectors} with a vector`, ...rest].join(', ');
  return [
    counted,
    overlap === null
      ? 'The old model can not be asked here, so what both find was not compared.'
      : `Of the ${overlap.k} nearest under the old model, ${percent(overlap.mean)} are among the ${overlap.k} nearest under the new one (least ${percent(overlap.least)}, ${overlap.queries} texts).`,
  ];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function addStatus(reembed: Command, parts: CliParts): void {
  withTenantOptions(reembed.command('status'), WHOSE)
    .description('Show which models search and keep entries, and how far changes are.')
    .addHelpText('after', examples(['palimpsest reembed status']))
    .action(async (_own: TenantOptions, command: Command) => {
      const options = command.optsWithGlobals<TenantOptions>();
      await withReembed(parts, options, async (service, context) => {
        const status = await service.status(context);
        await parts.stdout.write(
          options.json
            ? `${jsonText(toWireEmbeddingStatus(status), 2)}\n`
            : statusTables(status, parts.stdout.columns),
        );
      });
    });
}

function statusTables({ assignments, jobs }: EmbeddingStatus, width: number): string {
  if (assignments.length === 0) return 'No embedding model yet: searches compare words.\n';
  const models = textTable(
    [{ head: 'scope' }, { head: 'is' }, { head: 'model' }],
    assignments.map(({ role, scope, model }) => [printable(scope), role, printable(model.modelId)]),
    { width, isCompact: true },
  );
  if (jobs.length === 0) return models;
  const lines = jobs.map(({ job, progress }) => [
    job.id,
    job.status,
    printable(
      `${job.scope} to ${job.model.modelId}${progress === null ? '' : `\n${describeProgress(job, progress)}`}`,
    ),
  ]);
  return `${models}${textTable([{ head: 'job' }, { head: 'is' }, { head: 'change' }], lines, { width })}`;
}

function describeProgress({ isScanned }: EmbeddingJob, progress: JobProgress): string {
  const { settled, entries, refused, etaSeconds } = progress;
  const state = isScanned && settled >= entries ? 'complete' : stateOf(progress);
  const share = entries === 0 ? '' : ` (${percent(settled / entries)})`;
  const left = etaSeconds !== null && settled < entries ? `, ${duration(etaSeconds)} left` : '';
  const refusals = refused === 0 ? '' : `, ${refused} refused by the model`;
  return `${settled} of ${entries} entries${share}${refusals}: ${state}${state.includes('left') ? '' : left}`;
}

interface JobCommand {
  readonly name: string;
  readonly description: string;
  readonly work: (
    service: ReembedService,
    context: RequestContext,
    jobId: string | undefined,
  ) => Promise<EmbeddingJob>;
}

function addJobCommand(reembed: Command, parts: CliParts, { name, description, work }: JobCommand): void {
  withTenantOptions(reembed.command(name), WHOSE)
    .description(description)
    .argument('[job]', 'id of the job (default: the change that is open)')
    .addHelpText('after', examples([`palimpsest reembed ${name}`]))
    .action(async (jobId: string | undefined, _own: TenantOptions, command: Command) => {
      const options = command.optsWithGlobals<TenantOptions>();
      await withReembed(parts, options, async (service, context) =>
        writeJob(parts, options, await work(service, context, jobId)),
      );
    });
}

interface RollbackOptions extends ChangeOptions {
  readonly now?: boolean;
}

function addRollback(reembed: Command, parts: CliParts): void {
  withTenantOptions(reembed.command('rollback'), WHOSE)
    .description('Change back to the model before the last change.')
    .option('-n, --namespace <scope>', 'the scope that was changed (default: the whole store)')
    .option('--workers <number>', 'batches at a time (default: 1)', workersOption)
    .option('--now', 'switch at once, although entries written since are not found until they are embedded')
    .addHelpText('after', examples(['palimpsest reembed rollback', 'palimpsest reembed rollback --now']))
    .action(async (_own: RollbackOptions, command: Command) => {
      const options = command.optsWithGlobals<RollbackOptions>();
      await withReembed(parts, options, async (service, context) => {
        const request = { scope: options.namespace, immediately: options.now };
        const started = await service.rollBack(context, request);
        const { job, progress } =
          started.status === 'done'
            ? { job: started, progress: undefined }
            : await runWithBar(parts, service, context, started, options);
        await writeJob(parts, options, job, progress);
      });
    });
}

function addPurge(reembed: Command, parts: CliParts): void {
  withTenantOptions(reembed.command('purge'), WHOSE)
    .description('Remove vectors that nothing uses any more. A rollback then embeds anew.')
    .addHelpText('after', examples(['palimpsest reembed purge']))
    .action(async (_own: TenantOptions, command: Command) => {
      const options = command.optsWithGlobals<TenantOptions>();
      const removed = await withReembed(parts, options, (service, context) => service.purge(context));
      await parts.stdout.write(options.json ? `${jsonText({ removed })}\n` : `Removed ${removed} vectors.\n`);
    });
}
