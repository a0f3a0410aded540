import { openMemoryService } from '../../src/app.ts';
import type { JsonObject } from '../../src/core/types.ts';
import { OpenedMemory } from '../../src/library/opened-memory.ts';
import { LOCAL_OPERATOR } from '../../src/service/local-operator.ts';
import type { StoreLocation } from '../../src/store/open-store.ts';

/** What the process is told, as JSON in its first argument. */
export interface ReembedProcessOptions {
  readonly location: StoreLocation;
  readonly to: JsonObject;
  /** Begins every text the process writes. */
  readonly prefix: string;
  readonly queries: readonly string[];
  readonly batchSize: number;
}

/** What the process says, a line of JSON each. */
export type ReembedReport =
  | { readonly kind: 'written'; readonly content: string }
  | {
      readonly kind: 'recalled';
      readonly query: string;
      readonly modelId: string | null;
      readonly hits: string[];
    }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'progress'; readonly settled: number; readonly entries: number }
  | { readonly kind: 'done' };

/**
 * A process of its own that works on a change of the model while it writes and recalls all the time. Killed at any
 * moment by whoever started it.
 */
async function run({ location, to, prefix, queries, batchSize }: ReembedProcessOptions): Promise<void> {
  const say = (report: ReembedReport) => void process.stdout.write(`${JSON.stringify(report)}\n`);
  const opened = await openMemoryService({ location, embedding: {}, backfills: false });
  const memory = new OpenedMemory(opened);
  const context = { access: LOCAL_OPERATOR };
  let isOver = false;
  const loop = async (step: (turn: number) => Promise<ReembedReport>) => {
    for (let turn = 0; !isOver; turn += 1) {
      say(
        await step(turn).catch(
          (error: unknown): ReembedReport => ({ kind: 'failed', message: String(error) }),
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
  };
  const writing = loop(async (turn) => {
    const content = `${prefix} text ${turn}`;
    await memory.remember({ namespace: 'written.meanwhile', content });
    return { kind: 'written', content };
  });
  const recalling = loop(async (turn) => {
    const query = queries[turn % queries.length] ?? '';
    const { hits, trace } = await memory.recall({
      query,
      namespaces: ['corpus'],
      minScore: 0,
      relativeCutoff: 0,
    });
    const contents = hits.map(({ entry }) => entry.content);
    return { kind: 'recalled', query, modelId: trace.embeddingModelId, hits: contents };
  });
  const { jobs } = await opened.reembed.status(context);
  const isStarted = jobs.some(({ job }) => job.status === 'done');
  if (!isStarted) await opened.reembed.start(context, { to });
  const jobId = (await opened.reembed.status(context)).jobs[0]?.job.id;
  await opened.reembed.run(context, jobId, {
    batchSize,
    onProgress: ({ settled, entries }) => say({ kind: 'progress', settled, entries }),
  });
  // Recalls after the switch, too.
  await new Promise((resolve) => setTimeout(resolve, 500));
  isOver = true;
  await Promise.all([writing, recalling]);
  await opened.close();
  say({ kind: 'done' });
}

await run(JSON.parse(process.argv[2] ?? '') as ReembedProcessOptions);
