import type { LanguageModelMiddleware } from 'ai';
import type { PromptMemory } from '../memory-backend.ts';
import { PromptBlocks } from '../prompt-blocks.ts';
import { checkPromptOptions, type PromptOptions } from '../prompt-options.ts';
import { reportRun } from '../run-reports.ts';

type Middleware = Required<LanguageModelMiddleware>;
type CallOptions = Awaited<ReturnType<Middleware['transformParams']>>;
type GenerateResult = Awaited<ReturnType<Middleware['wrapGenerate']>>;
type StreamPart =
  Awaited<ReturnType<Middleware['wrapStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;
type FinishReason = GenerateResult['finishReason'];

/**
 * Gives a model of the AI SDK a memory: what is worth remembering for the question stands at the end of the last user
 * message of each prompt, and everything before it stays byte-identical. With `storeRuns`, the question and the
 * finished answer are stored; an answer that was aborted or broke off is not, nor are the steps on the way to it.
 *
 * @param memory - An opened memory, a handle for one user (`memory.as(…)`), or the HTTP client: whose memories these
 *   are is decided here, never by the model. A server makes one middleware for each request.
 * @example
 * const model = wrapLanguageModel({ model: openai('gpt-5'), middleware: palimpsestMiddleware(memory) });
 * const { text } = await generateText({ model, prompt: 'Tea or coffee for Ada?' });
 * @throws PalimpsestError `invalid_input`
 */
export function palimpsestMiddleware(
  memory: PromptMemory,
  options: PromptOptions = {},
): LanguageModelMiddleware {
  checkPromptOptions(options);
  const { context, storeRuns = false, onMemoryError } = options;
  const blocks = new PromptBlocks(context, onMemoryError);
  const questions = new WeakMap<CallOptions, string>();

  const store = (params: CallOptions, answer: string, finishReason: FinishReason) => {
    if (!isFinalAnswer(finishReason) || params.abortSignal?.aborted) return Promise.resolve();
    return reportRun(
      memory,
      storeRuns,
      { input: questions.get(params) ?? null, output: answer },
      onMemoryError,
    );
  };

  return {
    specificationVersion: 'v4',

    async transformParams({ params }) {
      const { messages, question } = await blocks.place(memory, params.prompt);
      const transformed = { ...params, prompt: messages };
      if (question !== null) questions.set(transformed, question);
      return transformed;
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      await store(params, textOf(result.content), result.finishReason);
      return result;
    },

    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      const reader = answerReader((answer, finishReason) => store(params, answer, finishReason));
      return { ...rest, stream: stream.pipeThrough(reader) };
    },
  };
}

function textOf(content: GenerateResult['content']): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Calls of tools are a step on the way; what broke off is no answer. */
function isFinalAnswer({ unified }: FinishReason): boolean {
  return unified === 'stop' || unified === 'length' || unified === 'other';
}

/** Reads an answer as it streams by and tells of it when the stream has come to its end, which an aborted one never does. */
function answerReader(
  onEnd: (answer: string, finishReason: FinishReason) => Promise<void>,
): TransformStream<StreamPart, StreamPart> {
  let answer = '';
  let finishReason: FinishReason | null = null;
  let hasFailed = false;
  return new TransformStream({
    transform(part, controller) {
      if (part.type === 'text-delta') answer += part.delta;
      if (part.type === 'finish') finishReason = part.finishReason;
      if (part.type === 'error') hasFailed = true;
      controller.enqueue(part);
    },
    // The stream ends only then: a process that ends with it has stored its run.
    async flush() {
      if (finishReason !== null && !hasFailed) await onEnd(answer, finishReason);
    },
  });
}
