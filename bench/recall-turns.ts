import type { MemoryService } from '../src/service/memory-service.ts';
import type { RequestContext } from '../src/service/request-context.ts';
import { type Percentiles, percentiles, round } from './measure.ts';

/** One way to recall. */
export interface Contender {
  readonly service: MemoryService;
  readonly context: RequestContext;
  readonly namespaces?: readonly string[] | undefined;
}

/** What recalls took, in milliseconds. */
export interface Taken extends Percentiles {
  readonly mean: number;
}

const TURNS = 12;
const RECALLS_A_TURN = 50;
const WARM_UP = 30;

/**
 * Two ways to recall in turns, each with the same queries, one recall after the other. The order changes from turn to
 * turn, so that neither always runs on the warmer cache.
 *
 * @param afterTurn - Ends what a turn has left to be done behind it, so that it is not counted to the next.
 */
export async function recallInTurns(
  contenders: readonly [Contender, Contender],
  queries: readonly string[],
  afterTurn: () => Promise<void>,
): Promise<[Taken, Taken]> {
  const samples: [number[], number[]] = [[], []];
  for (const contender of contenders) await timed(contender, queries.slice(0, WARM_UP));
  await afterTurn();
  for (let turn = 0; turn < TURNS; turn += 1) {
    const asked = Array.from({ length: RECALLS_A_TURN }, (_, index) => {
      return queries[(turn * RECALLS_A_TURN + index) % queries.length] ?? '';
    });
    for (const place of turn % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      samples[place].push(...(await timed(contenders[place], asked)));
      await afterTurn();
    }
  }
  return [taken(samples[0]), taken(samples[1])];
}

async function timed({ service, context, namespaces }: Contender, queries: readonly string[]) {
  const samples: number[] = [];
  for (const query of queries) {
    const start = performance.now();
    await service.recall(context, { query, topK: 10, namespaces });
    samples.push(performance.now() - start);
  }
  return samples;
}

function taken(samples: readonly number[]): Taken {
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
  return { mean: round(mean), ...percentiles(samples) };
}

/** How many times as long, by the mean and by the median. */
export function timesAsLong(taken: Taken, base: Taken): { readonly mean: number; readonly p50: number } {
  return { mean: round(taken.mean / base.mean, 3), p50: round(taken.p50 / base.p50, 3) };
}
