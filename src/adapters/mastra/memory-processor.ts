import type {
  ProcessLLMRequestArgs,
  ProcessLLMRequestResult,
  ProcessOutputResultArgs,
  Processor,
} from '@mastra/core/processors';
import type { RequestContext } from '@mastra/core/request-context';
import type { PromptMemory } from '../memory-backend.ts';
import { type MemorySource, memoryFinder } from '../memory-source.ts';
import { PromptBlocks } from '../prompt-blocks.ts';
import { checkPromptOptions, type PromptOptions } from '../prompt-options.ts';
import { reportRun, type StoreRuns } from '../run-reports.ts';

/** Where the processor keeps, for the length of a request, what was asked. */
const QUESTION = 'question';

/** How a run ends that has come to its answer. */
const FINAL = ['stop', 'length', 'other'];

/**
 * Gives an agent of Mastra a memory: what is worth remembering for the question stands at the end of the last user
 * message of each request to the model, and everything before it stays byte-identical. The block is in the request
 * alone: Mastra's own memory does not store it, and no later turn sends it again.
 *
 * With `storeRuns`, the question and the finished answer are stored; name the processor among the agent's
 * `outputProcessors` too then. A run that was aborted or broke off is not stored.
 *
 * @example
 * const memoryProcessor = new MemoryProcessor(memory, { storeRuns: true });
 * const agent = new Agent({ …, inputProcessors: [memoryProcessor], outputProcessors: [memoryProcessor] });
 */
export class MemoryProcessor implements Processor<'palimpsest-memory'> {
  readonly id = 'palimpsest-memory';
  readonly name = 'Palimpsest memory';
  readonly #memoryOf: (context: RequestContext | undefined) => PromptMemory;
  readonly #blocks: PromptBlocks;
  readonly #storeRuns: StoreRuns;
  readonly #onMemoryError: PromptOptions['onMemoryError'];

  /**
   * @param memory - An opened memory, a handle for one user (`memory.as(…)`), the HTTP client, or a function that finds
   *   one by the request context: whose memories these are is decided here, never by the model.
   * @throws PalimpsestError `invalid_input`
   */
  constructor(memory: MemorySource<PromptMemory, RequestContext | undefined>, options: PromptOptions = {}) {
    checkPromptOptions(options);
    this.#memoryOf = memoryFinder(memory);
    this.#blocks = new PromptBlocks(options.context, options.onMemoryError);
    this.#storeRuns = options.storeRuns ?? false;
    this.#onMemoryError = options.onMemoryError;
  }

  async processLLMRequest({
    prompt,
    requestContext,
    state,
  }: ProcessLLMRequestArgs): Promise<ProcessLLMRequestResult> {
    const { messages, question } = await this.#blocks.place(this.#memoryOf(requestContext), prompt);
    state[QUESTION] = question;
    return { prompt: messages };
  }

  async processOutputResult({
    messages,
    result,
    requestContext,
    state,
    abortSignal,
  }: ProcessOutputResultArgs): Promise<typeof messages> {
    if (FINAL.includes(result.finishReason) && !abortSignal?.aborted) {
      const question = state[QUESTION];
      const input = typeof question === 'string' ? question : null;
      const run = { input, output: result.text };
      await reportRun(this.#memoryOf(requestContext), this.#storeRuns, run, this.#onMemoryError);
    }
    return messages;
  }
}
