import { z } from 'zod';
import { dayFormat } from '../core/context/entry-header.ts';
import type { ChatMessage } from '../core/context/messages.ts';
import { excerpt, invalidInput } from '../core/errors.ts';
import { byRule } from './by-rule.ts';
import { queryField } from './fields.ts';
import { recallShape } from './recall-request.ts';

/** Messages are passed on as they are, so that whatever a model's API puts into one comes through. */
const messagesField = z
  .array(z.unknown().meta({ type: 'object', additionalProperties: true }))
  .meta({
    description:
      'The conversation as it was before a block was placed in it: messages of OpenAI, Anthropic or the AI SDK.',
    example: [{ role: 'user', content: 'Where do I send the invoice?' }],
  })
  .transform((messages) => messages as ChatMessage[]);

export const tokenBudgetField = z
  .number()
  .meta({ type: 'integer', minimum: 0, description: 'Most tokens the whole block may take.' })
  .transform(byRule(checkTokenBudget, 'token_budget'));

const contextShape = {
  ...recallShape,
  query: queryField
    .meta({ description: 'What to look for. Default: the text of the last user message.' })
    .optional(),
  messages: messagesField.optional(),
  token_budget: tokenBudgetField.optional(),
  locale: z
    .string()
    .meta({ description: 'Language of the dates in the block. Default en-US.', example: 'de-DE' })
    .transform(byRule(checkLocale, 'locale'))
    .optional(),
  time_zone: z
    .string()
    .meta({ description: 'Zone of the dates in the block. Default UTC.', example: 'Europe/Berlin' })
    .transform(byRule(checkTimeZone, 'time_zone'))
    .optional(),
};

/** What a caller sends to have a prompt's memory block made. */
export const contextRequestSchema = z
  .strictObject({
    ...contextShape,
    return_messages: z
      .boolean()
      .meta({
        description:
          'Whether to answer the messages too, with the block at the end of the last user message. Default false.',
      })
      .optional(),
    explain: z.boolean().meta({ description: 'Whether to answer the trace too. Default false.' }).optional(),
  })
  .transform(({ return_messages: returnMessages, ...fields }) => ({ ...inCode(fields), returnMessages }));

/** The same where messages and trace are always answered: in the library. */
export const fullContextRequestSchema = z.strictObject(contextShape).transform(inCode);

function inCode<Fields extends z.output<z.ZodObject<typeof contextShape>>>(fields: Fields) {
  const {
    top_k: topK,
    min_score: minScore,
    relative_cutoff: relativeCutoff,
    token_budget: tokenBudget,
    time_zone: timeZone,
    ...same
  } = fields;
  return { ...same, topK, minScore, relativeCutoff, tokenBudget, timeZone };
}

function checkTokenBudget(budget: number, field: string): number {
  if (Number.isSafeInteger(budget) && budget >= 0) return budget;
  throw invalidInput(`${field} is ${excerpt(budget)}; allowed is a whole number of at least 0.`, {
    path: field,
    got: excerpt(budget),
    allowed: 'a whole number of at least 0',
  });
}

function checkLocale(locale: string): string {
  dayFormat({ locale });
  return locale;
}

function checkTimeZone(timeZone: string): string {
  dayFormat({ timeZone });
  return timeZone;
}
