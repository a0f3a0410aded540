import { type BuiltContext, buildContext } from '../core/context/build-context.ts';
import type { RequestLocale } from '../core/context/entry-header.ts';
import type { LeftOutEntry } from '../core/context/memory-block.ts';
import { type ChatMessage, placeBlock, queryFromMessages } from '../core/context/messages.ts';
import { DEFAULT_TOKEN_BUDGET } from '../core/defaults.ts';
import { invalidInput } from '../core/errors.ts';
import type { RecallTrace } from '../core/ranking/trace.ts';
import type { CutCandidate } from '../core/types.ts';
import { noteRanked, type RecallRequest, readRanked } from './recall.ts';
import type { RequestContext } from './request-context.ts';
import type { ServiceState } from './service-parts.ts';
import type { Warning } from './warning.ts';

export interface ContextRequest<Message extends ChatMessage = ChatMessage>
  extends RecallRequest,
    RequestLocale {
  /** What to look for. Default: the text of the last user message. */
  readonly query?: string | undefined;
  /** The conversation as it was before a block was placed in it. One of `query` and `messages` is needed. */
  readonly messages?: readonly Message[] | undefined;
  /** Most tokens the whole block may take, at least 0. Default: the policy's, else 4000. */
  readonly tokenBudget?: number | undefined;
}

export interface ContextResult<Message extends ChatMessage = ChatMessage> extends BuiltContext<Message> {
  /** The budget that held. */
  readonly tokenBudget: number;
  /** Name of the tokenizer that counted. */
  readonly tokenizer: string;
  /** How the block's entries were found; what the budget left out stands among the cut ones. */
  readonly trace: RecallTrace;
  readonly warnings: readonly Warning[];
}

/**
 * Finds what is worth remembering for a query or a conversation, as a recall does, and makes the memory block of
 * it: the text that goes to the end of the last user message. With the conversation it answers that, too.
 *
 * The read is audited as `auto_context`: a prompt was filled with it, whoever asked.
 *
 * @throws PalimpsestError `invalid_input`, also for a conversation without a user message or text in it
 */
export async function fillContext<Message extends ChatMessage>(
  state: ServiceState,
  context: RequestContext,
  request: ContextRequest<Message>,
): Promise<ContextResult<Message>> {
  const { messages, tokenBudget: wantedBudget, locale, timeZone, ...wanted } = request;
  const query = queryOf(request);
  const [{ result, rules, applied }, counter] = await Promise.all([
    readRanked(state, context, { ...wanted, query }),
    state.tokenCounter(),
  ]);
  const tokenBudget = wantedBudget ?? result.tokenBudget ?? DEFAULT_TOKEN_BUDGET;
  const { agentId, taskId } = context.subject ?? {};
  const built = buildContext({
    hits: result.hits,
    rules,
    variables: { user_id: context.access.principal.userId, agent_id: agentId, task_id: taskId },
    locale,
    timeZone,
    tokenBudget,
    counter,
    messages,
  });
  const included = new Set(built.included);
  const trace = withBudgetCuts(result.trace, built.leftOut);
  await noteRanked(state, context, {
    operation: 'context',
    applied,
    scope: request.namespaces,
    result: { hits: result.hits.filter(({ entry }) => included.has(entry.id)), trace },
    detail: { auto_context: true, token_budget: tokenBudget, token_count: built.tokenCount },
  });
  return { ...built, tokenBudget, tokenizer: counter.name, trace, warnings: result.warnings };
}

/** Refuses a conversation that has no place for a block before anything is searched. */
function queryOf({ query, messages }: ContextRequest): string {
  if (messages !== undefined) placeBlock(messages, '');
  if (query !== undefined) return query;
  if (messages !== undefined) return queryFromMessages(messages);
  throw invalidInput(
    'A context needs query, the text to look for, or messages, the conversation it is for.',
    {
      path: 'query',
      got: null,
      allowed: 'query, or messages with a user message, or both',
    },
  );
}

/** What did not fit is a hit of the search and none of the context: the trace says which line cut it. */
function withBudgetCuts(trace: RecallTrace, leftOut: readonly LeftOutEntry[]): RecallTrace {
  if (leftOut.length === 0) return trace;
  const ids = new Set(leftOut.map(({ id }) => id));
  const cut = trace.hits
    .filter(({ candidate }) => ids.has(candidate.id))
    .map(({ candidate, score, breakdown }): CutCandidate => {
      return { candidate, score, breakdown, reason: 'token_budget', threshold: null, duplicateOf: null };
    });
  return {
    ...trace,
    hits: trace.hits.filter(({ candidate }) => !ids.has(candidate.id)),
    cut: [...cut, ...trace.cut],
    cutCount: trace.cutCount + cut.length,
  };
}
