import { z } from 'zod';
import { MAX_SUBJECT_ID_LENGTH } from '../core/defaults.ts';
import { checkWord } from '../core/entry.ts';
import { excerpt, invalidInput, type PalimpsestError } from '../core/errors.ts';

/** `id` is the parameter's name among the components of the OpenAPI document. */
const subjectHeader = (id: string, description: string) =>
  z
    .string()
    .optional()
    .meta({ param: { id, description: `${description} Percent-encoded where it is not ASCII.` } });

export const REQUEST_ORIGINS = ['tool_call', 'automatic'] as const;

/** On whose behalf a request is made, which policies are found by: headers that every route takes. */
export const subjectHeadersSchema = z.object({
  'palimpsest-agent-id': subjectHeader('AgentId', 'The agent that asks: its policy applies.'),
  'palimpsest-task-id': subjectHeader('TaskId', "The task it works on: that policy replaces the agent's."),
  'palimpsest-chat-id': subjectHeader('ChatId', 'Fills ${chat_id} in policies.'),
  'palimpsest-session-id': subjectHeader('SessionId', 'Fills ${session_id} in policies.'),
  'palimpsest-origin': z
    .enum(REQUEST_ORIGINS)
    .optional()
    .meta({
      param: {
        id: 'Origin',
        description:
          "tool_call: an agent's tool made the request. automatic: the host made it unasked. Both need a policy to write.",
      },
    }),
});

export const REQUEST_ID_HEADER = 'x-request-id';
export const IDEMPOTENCY_KEY_HEADER = 'idempotency-key';
export const IDEMPOTENT_REPLAY_HEADER = 'idempotency-replayed';
export const IF_NONE_MATCH_HEADER = 'if-none-match';
/** The one value that header may have with a write: only a new entry is wanted. */
export const ANY_ENTRY = '*';

/** What the headers say about how and for whom a request is made. */
export interface RequestSubjectHeaders {
  readonly subject?: {
    readonly agentId?: string | undefined;
    readonly taskId?: string | undefined;
    readonly chatId?: string | undefined;
    readonly sessionId?: string | undefined;
  };
  readonly origin?: (typeof REQUEST_ORIGINS)[number] | undefined;
}

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Reads the subject off a request's headers, whose names are lower case.
 *
 * @throws PalimpsestError `invalid_input`
 */
export function readSubjectHeaders(headers: Headers): RequestSubjectHeaders {
  const subject = {
    agentId: decodedHeader(headers, 'palimpsest-agent-id'),
    taskId: decodedHeader(headers, 'palimpsest-task-id'),
    chatId: decodedHeader(headers, 'palimpsest-chat-id'),
    sessionId: decodedHeader(headers, 'palimpsest-session-id'),
  };
  return { subject, origin: originOf(headers) };
}

/** The headers that say it. */
export function writeSubjectHeaders({ subject = {}, origin }: RequestSubjectHeaders): Record<string, string> {
  const { agentId, taskId, chatId, sessionId } = subject;
  const headers = {
    'palimpsest-agent-id': encoded(agentId),
    'palimpsest-task-id': encoded(taskId),
    'palimpsest-chat-id': encoded(chatId),
    'palimpsest-session-id': encoded(sessionId),
    'palimpsest-origin': origin,
  };
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function encoded(value: string | undefined): string | undefined {
  return value === undefined ? undefined : encodeURIComponent(value);
}

/**
 * The one value of a header.
 *
 * @throws PalimpsestError `invalid_input` where there are several
 */
export function singleHeader(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  if (value === undefined || typeof value === 'string') return value;
  throw repeatedHeader(name, value.length);
}

export function repeatedHeader(name: string, times: number): PalimpsestError {
  return invalidInput(`${name}: the header stands ${times} times in the request.`, {
    path: name,
    got: times,
    allowed: 'once',
  });
}

function decodedHeader(headers: Headers, name: string): string | undefined {
  const value = singleHeader(headers, name);
  if (value === undefined) return undefined;
  return checkWord(percentDecoded(value, name), name, MAX_SUBJECT_ID_LENGTH);
}

function percentDecoded(value: string, name: string): string {
  try {
    return decodeURIComponent(value);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    throw invalidInput(`${name}: ${excerpt(value)} is not validly percent-encoded.`, {
      path: name,
      got: excerpt(value),
      allowed: 'ASCII, % followed by two hex digits for anything else',
    });
  }
}

function originOf(headers: Headers): (typeof REQUEST_ORIGINS)[number] | undefined {
  const name = 'palimpsest-origin';
  const value = singleHeader(headers, name);
  if (value === undefined) return undefined;
  const origin = REQUEST_ORIGINS.find((known) => known === value);
  if (origin !== undefined) return origin;
  throw invalidInput(`${name}: ${excerpt(value)} is not one of ${REQUEST_ORIGINS.join(', ')}.`, {
    path: name,
    got: excerpt(value),
    allowed: [...REQUEST_ORIGINS],
  });
}
