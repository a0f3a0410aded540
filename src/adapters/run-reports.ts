import { randomUUID } from 'node:crypto';
import type { PromptMemory } from './memory-backend.ts';
import type { OnMemoryError } from './prompt-blocks.ts';

/** How finished runs are stored. */
export interface RunOptions {
  /** Where to. Default: the `write_namespace` of the agent's policy. */
  readonly namespace?: string | undefined;
}

/** Which runs are stored: none (the default), or all, with options or without. */
export type StoreRuns = boolean | RunOptions;

export interface FinishedRun {
  /** Default: an id of its own. */
  readonly runId?: string | undefined;
  /** Null where nothing was asked in words. */
  readonly input: string | null;
  readonly output: string;
}

/**
 * Stores what a run was asked and what it answered, where that is wanted and a policy allows it.
 *
 * @param onError - Told of a failure of the memory. Default: it is thrown.
 */
export async function reportRun(
  memory: Pick<PromptMemory, 'observeRun'>,
  storeRuns: StoreRuns,
  { runId = randomUUID(), input, output }: FinishedRun,
  onError?: OnMemoryError,
): Promise<void> {
  if (storeRuns === false) return;
  const { namespace } = storeRuns === true ? {} : storeRuns;
  try {
    await memory.observeRun({ runId, input: input ?? undefined, output, namespace });
  } catch (error) {
    if (onError === undefined) throw error;
    onError(error);
  }
}
