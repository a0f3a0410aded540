import type { AgentInputItem, CallModelInputFilter, UserMessageItem } from '@openai/agents-core';
import { isMemoryBlock } from '../../core/context/is-memory-block.ts';
import type { PromptMemory } from '../memory-backend.ts';
import { type MemorySource, memoryFinder } from '../memory-source.ts';
import { PromptBlocks } from '../prompt-blocks.ts';
import { checkPlacingOptions, type PlacingOptions } from '../prompt-options.ts';

/**
 * A `callModelInputFilter` of the OpenAI Agents SDK that gives a run's model calls a memory: what is worth remembering
 * for the question stands as one more part at the end of the last user message, and everything before it stays
 * byte-identical.
 *
 * The SDK keeps in a session what the filter returns. So the filter takes blocks out of the messages before it searches
 * and places a new one: no block is sent twice, and none becomes part of a question.
 *
 * @param memory - An opened memory, a handle for one user (`memory.as(…)`), the HTTP client, or a function that finds
 *   one by the run's context: whose memories these are is decided here, never by the model.
 * @example
 * const runner = new Runner({ callModelInputFilter: memoryInputFilter(memory) });
 * const { finalOutput } = await runner.run(agent, 'Tea or coffee for Ada?');
 * @throws PalimpsestError `invalid_input`
 */
export function memoryInputFilter<Context = unknown>(
  memory: MemorySource<Pick<PromptMemory, 'context'>, Context | undefined>,
  options: PlacingOptions = {},
): CallModelInputFilter {
  checkPlacingOptions(options);
  const memoryOf = memoryFinder(memory);
  const blocks = new PromptBlocks(options.context, options.onMemoryError);
  return async ({ modelData, context }) => {
    const bare = modelData.input.map((item) => (isUserMessage(item) ? withoutBlocks(item) : item));
    // A runner's type does not know the context of its runs.
    const { messages } = await blocks.place(memoryOf(context as Context | undefined), bare);
    return { ...modelData, input: modelData.input.map((item, index) => updated(item, messages[index])) };
  };
}

type Parts = Exclude<UserMessageItem['content'], string>;

function isUserMessage(item: AgentInputItem): item is UserMessageItem {
  return 'role' in item && item.role === 'user';
}

/** As a list of parts, so that a block is a part of its own, which can be found again. */
function withoutBlocks(message: UserMessageItem): UserMessageItem {
  const { content } = message;
  if (typeof content === 'string') return { ...message, content: [{ type: 'input_text', text: content }] };
  // The first part is never ours: a block follows what the user said.
  return { ...message, content: content.filter((part, index) => index === 0 || !isBlock(part)) };
}

function isBlock(part: Parts[number]): boolean {
  return part.type === 'input_text' && isMemoryBlock(part.text);
}

/**
 * The item that was given, with the content it is to be sent with. The SDK hands its filters copies of its items and
 * knows them again by identity: new objects it would have to match by guessing, and refuses to where input is pending.
 */
function updated(item: AgentInputItem, sent: AgentInputItem | undefined): AgentInputItem {
  if (!isUserMessage(item) || sent === undefined || !isUserMessage(sent)) return item;
  if (!hasChanged(item.content, sent.content)) return item;
  return Object.assign(item, { content: sent.content });
}

/** A text that became a list of one part is the same, and is sent as it was. */
function hasChanged(content: UserMessageItem['content'], sent: UserMessageItem['content']): boolean {
  if (typeof content === 'string') return sent.length !== 1;
  return content.length !== sent.length || content.some((part, index) => part !== sent[index]);
}
