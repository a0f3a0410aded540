import { z } from 'zod';
import type { BuiltContext } from '../core/context/build-context.ts';
import { INSTRUCTION_VARIABLES } from '../core/context/instruction.ts';
import type { ChatMessage } from '../core/context/messages.ts';
import type { RecallTrace } from '../core/ranking/trace.ts';
import { jsonValueSchema } from './json-value.ts';
import { shownTrace, wireTraceSchema } from './ranking-trace.ts';
import { wireWarningsField } from './warning.ts';
import type { InCode } from './wire-form.ts';

/** What did not fit into a budget. */
export const wireLeftOutField = z
  .array(
    z.strictObject({
      id: z.string().meta({ format: 'uuid' }),
      reason: z.enum(['token_budget']),
      tokens: z.int().meta({ description: 'What it would take by itself.' }),
    }),
  )
  .meta({ description: 'What was found and did not fit, in rank order.' });

/** A prompt's memory block, and how it came about. */
export const wireContextAnswerSchema = z
  .strictObject({
    block: z.string().meta({
      description: 'The text for the end of the last user message. Empty where nothing was found or fits.',
    }),
    token_count: z.int().meta({ description: 'Tokens of the block, at most token_budget.' }),
    token_budget: z.int(),
    tokenizer: z.string().meta({ description: 'What counted.', example: 'o200k_base' }),
    included: z
      .array(z.string().meta({ format: 'uuid' }))
      .meta({ description: 'Ids of the entries in the block, in the order they stand there.' }),
    left_out: wireLeftOutField,
    truncated: z.boolean().meta({ description: 'Whether anything was left out.' }),
    unset_variables: z
      .array(z.strictObject({ pattern: z.string(), variable: z.enum(INSTRUCTION_VARIABLES) }))
      .meta({ description: 'Variables that instructions name and the request does not set.' }),
    messages: z.array(jsonValueSchema).optional().meta({
      description: 'The messages with the block in its place, where return_messages asked for them.',
    }),
    trace_id: z.string().meta({ format: 'uuid', description: 'Feedback names it.' }),
    profile: z.string(),
    exact: z.boolean(),
    warnings: wireWarningsField,
    trace: wireTraceSchema.optional(),
  })
  .meta({ id: 'ContextAnswer' });

export type WireContextAnswer = z.input<typeof wireContextAnswerSchema>;
export type ShownContextAnswer = InCode<typeof wireContextAnswerSchema>;

/** A context, as the service has it. */
interface FilledContext extends BuiltContext<ChatMessage> {
  readonly tokenBudget: number;
  readonly tokenizer: string;
  readonly trace: RecallTrace;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

export interface ContextAnswerOptions {
  /** Whether to show the messages. Default false. */
  readonly returnMessages?: boolean | undefined;
  /** Whether to show the trace. Default false. */
  readonly explain?: boolean | undefined;
}

export function shownContextAnswer(
  filled: FilledContext,
  { returnMessages, explain }: ContextAnswerOptions = {},
): ShownContextAnswer {
  const { text, trace, messages } = filled;
  return {
    block: text,
    tokenCount: filled.tokenCount,
    tokenBudget: filled.tokenBudget,
    tokenizer: filled.tokenizer,
    included: filled.included,
    leftOut: filled.leftOut,
    truncated: filled.truncated,
    unsetVariables: filled.unsetVariables,
    // What was sent as JSON is answered as JSON.
    ...(returnMessages === true && messages !== null ? { messages: messages as never } : {}),
    traceId: trace.id,
    profile: trace.profile.name,
    exact: trace.exact,
    warnings: filled.warnings,
    ...(explain === true ? { trace: shownTrace(trace) } : {}),
  };
}
