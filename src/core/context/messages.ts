import { MAX_QUERY_BYTES } from '../defaults.ts';
import { utf8Length } from '../entry.ts';
import { excerpt, invalidInput, type PalimpsestError } from '../errors.ts';

/**
 * A chat message of OpenAI (chat completions and responses), Anthropic or the Vercel AI SDK (`ModelMessage`,
 * `UIMessage`), as far as this file looks at it. Whatever else a message holds is passed on.
 */
export interface ChatMessage {
  /** Absent on what is no message, such as a tool's output in a list of OpenAI's responses API. */
  readonly role?: unknown;
  /** What such an item has instead. */
  readonly type?: unknown;
  /** Text, or a list of parts. */
  readonly content?: unknown;
  /** The list of parts of a `UIMessage`, which may have no `content`. */
  readonly parts?: unknown;
}

interface Part {
  readonly type: string;
  readonly text?: unknown;
}

/** Where a message keeps what it says, and what that is. */
type Body =
  | { readonly field: 'content'; readonly value: string }
  | { readonly field: 'content' | 'parts'; readonly value: readonly Part[] };

/** Between the user's own words and the block, where both share one string. */
const SEPARATOR = '\n\n';

const TEXT = 'text';
/** Text as OpenAI's responses API calls it, and the parts that only this API has. */
const INPUT_TEXT = 'input_text';
const RESPONSES_PARTS = [INPUT_TEXT, 'input_image', 'input_file'];

/** What a tool answered, sent back in the user's name (Anthropic). */
const TOOL_RESULT = 'tool_result';

const MESSAGE_RULE =
  'an object with role and, for a user message, content or parts: text, or a list of parts with a type';

const NUL = /\0/g;
const LONE_SURROGATE = /\p{Cs}/gu;
const NOT_BLANK = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u;

/**
 * Places a memory block at the end of the last user message. A text gets it after an empty line, a list of parts
 * as one more text part at its end, so that images stay, and tool results stay first.
 *
 * The last user message is the last one in which the user says something: one that holds tool results alone is
 * the runtime's, as is a message of the role `tool` elsewhere. So the block stays where it is while an agent
 * calls its tools, and with it the prefix that the model's provider has cached.
 *
 * @param block - An empty one changes nothing.
 * @returns A new list. Nothing given is changed, and all messages but that one are the very same objects.
 * @throws PalimpsestError `invalid_input` when there is no user message, or a message is none
 */
export function placeBlock<Message extends ChatMessage>(
  messages: readonly Message[],
  block: string,
): Message[] {
  const { index, message, body } = lastUserMessage(messages);
  if (block === '') return [...messages];
  return messages.with(index, { ...message, [body.field]: withBlock(body.value, block) });
}

/**
 * The query a conversation asks: the text of the last user message, its text parts joined by line breaks.
 *
 * It is what a person happened to write, not a field somebody filled in, so it is made fit rather than refused:
 * without NUL and broken surrogates, and cut after 64 KiB of UTF-8.
 *
 * @throws PalimpsestError `invalid_input` when there is no user message, or it has no text
 */
export function queryFromMessages(messages: readonly ChatMessage[]): string {
  const { index, body } = lastUserMessage(messages);
  const text = (typeof body.value === 'string' ? body.value : textOf(body.value))
    .replace(NUL, '')
    .replace(LONE_SURROGATE, '\ufffd');
  if (NOT_BLANK.test(text)) return cutToBytes(text, MAX_QUERY_BYTES);
  throw invalidInput(
    `messages[${index}]: the last user message has no text to search for. Send the query itself, or a message with text.`,
    { path: `messages[${index}]`, allowed: 'a user message with text', hint: 'Send query.' },
  );
}

/**
 * Position of the message that {@link placeBlock} puts a block into and {@link queryFromMessages} reads.
 *
 * @throws PalimpsestError `invalid_input` when there is no user message
 */
export function lastUserMessageIndex(messages: readonly ChatMessage[]): number {
  return lastUserMessage(messages).index;
}

function lastUserMessage<Message extends ChatMessage>(
  messages: readonly Message[],
): { index: number; message: Message; body: Body } {
  if (!Array.isArray(messages)) throw refused('messages', messages, 'it is not a list', 'a list of messages');
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (!isObject(message)) throw refused(`messages[${index}]`, message, 'it is not a message', MESSAGE_RULE);
    if (message.role !== 'user') continue;
    const body = bodyOf(message, `messages[${index}]`);
    if (!isToolAnswer(body.value)) return { index, message, body };
  }
  throw invalidInput(
    'messages: there is no user message. Memories go to the end of the last one; send the message that is to be answered.',
    {
      path: 'messages',
      allowed: 'at least one message with role user',
      hint: 'Send query instead of messages.',
    },
  );
}

function isObject<Value>(value: Value | undefined): value is Value & object {
  return typeof value === 'object' && value !== null;
}

function bodyOf({ content, parts }: ChatMessage, path: string): Body {
  // A UIMessage of older versions has both; the SDK reads the parts.
  if (parts !== undefined) return { field: 'parts', value: checkParts(parts, `${path}.parts`) };
  if (typeof content === 'string') return { field: 'content', value: content };
  return { field: 'content', value: checkParts(content, `${path}.content`) };
}

function checkParts(parts: unknown, path: string): readonly Part[] {
  if (!Array.isArray(parts)) throw refused(path, parts, 'it is neither a text nor a list', MESSAGE_RULE);
  return parts.map((part: unknown, index) => {
    if (isPart(part)) return part;
    throw refused(`${path}[${index}]`, part, 'it is not a part', MESSAGE_RULE);
  });
}

function isPart(part: unknown): part is Part {
  return isObject(part) && 'type' in part && typeof part.type === 'string';
}

function refused(path: string, value: unknown, fault: string, allowed: string): PalimpsestError {
  return invalidInput(`${path}: ${fault}. Got ${excerpt(value)}; allowed: ${allowed}.`, {
    path,
    got: excerpt(value),
    allowed,
  });
}

function isToolAnswer(body: string | readonly Part[]): boolean {
  return typeof body !== 'string' && body.length > 0 && body.every(({ type }) => type === TOOL_RESULT);
}

function withBlock(body: string | readonly Part[], block: string): string | Part[] {
  if (typeof body === 'string') return body === '' ? block : body + SEPARATOR + block;
  // The API at hand names its text parts as it did so far.
  const type = body.some((part) => RESPONSES_PARTS.includes(part.type)) ? INPUT_TEXT : TEXT;
  return [...body, { type, text: block }];
}

function textOf(parts: readonly Part[]): string {
  return parts
    .filter(({ type }) => type === TEXT || type === INPUT_TEXT)
    .map(({ text }) => text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}

function cutToBytes(text: string, limit: number): string {
  if (utf8Length(text) <= limit) return text;
  let bytes = 0;
  let end = 0;
  for (const char of text) {
    bytes += utf8Length(char);
    if (bytes > limit) break;
    end += char.length;
  }
  return text.slice(0, end);
}
