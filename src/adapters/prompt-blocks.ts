import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ContextInput } from '../contract/inputs.ts';
import {
  type ChatMessage,
  lastUserMessageIndex,
  placeBlock,
  queryFromMessages,
} from '../core/context/messages.ts';
import { PalimpsestError } from '../core/errors.ts';
import type { PromptMemory } from './memory-backend.ts';

/** What is searched for a prompt, and how the block looks. */
export type BlockOptions = Omit<ContextInput, 'query' | 'messages'>;

/** Told of a failure of the memory, after which the run goes on without it. */
export type OnMemoryError = (error: unknown) => void;

export interface PlacedBlock<Message> {
  /** The conversation with the block at the end of its last user message. */
  readonly messages: Message[];
  /** What the user asked: the text of that message. Null where the conversation asks nothing in words. */
  readonly question: string | null;
}

/** As long as the steps of one run lie apart at most: what was forgotten or corrected is not told for longer. */
const KEPT_MS = 5 * 60 * 1000;
/** Runs at once whose blocks are kept at least; a block takes some 16 kB. */
const KEPT_BLOCKS = 256;

/**
 * Puts memory blocks into prompts. While an agent goes on answering one question, step by step, the block of the
 * first step stands in each: it is searched once, and everything before the newest step stays byte-identical, which
 * keeps the provider's cache warm (and what the agent stores on the way does not come back at it).
 */
export class PromptBlocks {
  readonly #options: BlockOptions | false;
  readonly #onError: OnMemoryError | undefined;
  /** By memory, since it decides whose memories these are. */
  readonly #kept = new WeakMap<Pick<PromptMemory, 'context'>, LRUCache<string, string>>();

  /**
   * @param options - False: no block.
   * @param onError - Default: a failure of the memory is a failure of the call.
   */
  constructor(options: BlockOptions | false = {}, onError?: OnMemoryError) {
    this.#options = options;
    this.#onError = onError;
  }

  /** A conversation that asks nothing (no user message, or one without text) comes back as it is. */
  async place<Message extends ChatMessage>(
    memory: Pick<PromptMemory, 'context'>,
    messages: readonly Message[],
  ): Promise<PlacedBlock<Message>> {
    const asked = questionOf(messages);
    if (asked === null) return { messages: [...messages], question: null };
    const { question, index } = asked;
    const block = await this.#blockFor(memory, question, index, index < messages.length - 1);
    return { messages: placeBlock(messages, block), question };
  }

  async #blockFor(
    memory: Pick<PromptMemory, 'context'>,
    question: string,
    index: number,
    isUnderWay: boolean,
  ): Promise<string> {
    if (this.#options === false) return '';
    const kept = this.#blocksOf(memory);
    const key = createHash('sha256').update(`${index} ${question}`, 'utf8').digest('base64');
    const known = isUnderWay ? kept.get(key) : undefined;
    if (known !== undefined) return known;
    try {
      const { block } = await memory.context({ ...this.#options, query: question });
      kept.set(key, block);
      return block;
    } catch (error) {
      if (this.#onError === undefined) throw error;
      this.#onError(error);
      return '';
    }
  }

  #blocksOf(memory: Pick<PromptMemory, 'context'>): LRUCache<string, string> {
    const known = this.#kept.get(memory);
    if (known !== undefined) return known;
    const made = new LRUCache<string, string>({ max: KEPT_BLOCKS, ttl: KEPT_MS });
    this.#kept.set(memory, made);
    return made;
  }
}

/** What a conversation asks and where; null where it asks nothing in words. */
function questionOf(messages: readonly ChatMessage[]): { question: string; index: number } | null {
  try {
    return { question: queryFromMessages(messages), index: lastUserMessageIndex(messages) };
  } catch (error) {
    if (PalimpsestError.isInstance(error) && error.code === 'invalid_input') return null;
    throw error;
  }
}
