import { parseNamespacePath } from '../core/namespace.ts';
import { checkOptions } from './check-options.ts';
import type { BlockOptions, OnMemoryError } from './prompt-blocks.ts';
import type { RunOptions, StoreRuns } from './run-reports.ts';

/** What a framework's model calls get of the memory. */
export interface PlacingOptions {
  /**
   * What is searched for a prompt (`namespaces`, `filter`, `profile`, `topK`, `minScore`, `relativeCutoff`), and how the
   * block looks (`tokenBudget`, `locale`, `timeZone`). Default: all that may be read, by the policy and the profile.
   * False: nothing is searched, and prompts stay as they are.
   */
  readonly context?: BlockOptions | false | undefined;
  /**
   * Told of a failure of the memory, after which the prompt stays as it is, or the run unstored, and the run goes on.
   * Default: the call fails with the memory's error, since an agent that silently forgot answers as if it knew nothing.
   */
  readonly onMemoryError?: OnMemoryError | undefined;
}

/** The same, and what of a finished run the memory gets. */
export interface PromptOptions extends PlacingOptions {
  /** Whether a finished run's question and answer are stored, where a policy allows it. Default false. */
  readonly storeRuns?: StoreRuns | undefined;
}

const PLACING_OPTIONS: Readonly<Record<keyof PlacingOptions, null>> = { context: null, onMemoryError: null };
const PROMPT_OPTIONS: Readonly<Record<keyof PromptOptions, null>> = { ...PLACING_OPTIONS, storeRuns: null };
const RUN_OPTIONS: Readonly<Record<keyof RunOptions, null>> = { namespace: null };

/** @throws PalimpsestError `invalid_input` */
export function checkPromptOptions(options: PromptOptions): void {
  checkOptions(options, PROMPT_OPTIONS);
  const { storeRuns } = options;
  if (typeof storeRuns !== 'object') return;
  checkOptions(storeRuns, RUN_OPTIONS);
  if (storeRuns.namespace !== undefined) parseNamespacePath(storeRuns.namespace, 'storeRuns.namespace');
}

/** @throws PalimpsestError `invalid_input` */
export function checkPlacingOptions(options: PlacingOptions): void {
  checkOptions(options, PLACING_OPTIONS);
}
