import { type MemoryBlock, type MemoryBlockInput, renderMemoryBlock } from './memory-block.ts';
import { type ChatMessage, placeBlock } from './messages.ts';

export interface ContextInput<Message extends ChatMessage> extends MemoryBlockInput {
  /** The conversation the block belongs to. */
  readonly messages?: readonly Message[] | undefined;
}

export interface BuiltContext<Message extends ChatMessage> extends MemoryBlock {
  /** The conversation with the block at the end of its last user message; null when none was given. */
  readonly messages: readonly Message[] | null;
}

/**
 * Renders the memory block, and places it where the conversation is given.
 *
 * @throws PalimpsestError `invalid_input`; see {@link renderMemoryBlock} and {@link placeBlock}
 */
export function buildContext<Message extends ChatMessage = ChatMessage>(
  input: ContextInput<Message>,
): BuiltContext<Message> {
  const block = renderMemoryBlock(input);
  return { ...block, messages: input.messages === undefined ? null : placeBlock(input.messages, block.text) };
}
