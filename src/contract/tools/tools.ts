import { z } from 'zod';
import { MAX_PAGE_SIZE, MAX_TOP_K, MIN_TOP_K } from '../../core/defaults.ts';
import { invalidInput } from '../../core/errors.ts';
import { byRule } from '../by-rule.ts';
import { feedbackSchema } from '../feedback.ts';
import { listShape } from '../list-request.ts';
import { contentDraftSchema, contentShape, unplacedDraftSchema, unplacedShape } from '../memory-draft.ts';
import { patchShape } from '../memory-patch.ts';
import { wireHitSchema } from '../recall-answer.ts';
import { recallShape } from '../recall-request.ts';
import { defineTool, type ToolDefinition } from './tool.ts';
import {
  memoryIdField,
  toolCursorField,
  toolEntrySchema,
  toolLeftOutField,
  toolNextCursorField,
  toolReceiptSchema,
  toolTokenBudgetField,
} from './tool-fields.ts';

const hit = wireHitSchema.shape;
const PLACE =
  'Leave namespace out to write where the policy of this agent says; without a policy name one, such as vector.user.local.preferences.';

/**
 * The tools of the memory. The parts of their arguments that are requests of the API too are the very fields of
 * those; what only tools have is `token_budget` and `cursor`. Nothing at the top level is an `anyOf`: model APIs
 * refuse such tools.
 */
export const MEMORY_TOOLS = {
  search: defineTool({
    name: 'memory_search',
    title: 'Search memories',
    description:
      'Finds what was remembered that is worth knowing for a question: facts, decisions, preferences, how-tos. Use it before you answer from nothing, with the subject in plain words. Best first; similarity says how close a memory is to the question, score what it is worth. After you used one, say so with memory_feedback.',
    input: z.strictObject({
      ...recallShape,
      top_k: z
        .int()
        .min(MIN_TOP_K)
        .max(MAX_TOP_K)
        .meta({ description: 'How many memories at most. Default 5.' })
        .optional(),
      min_score: z.number().min(0).meta({ description: 'Floor on the score. 0 lets all pass.' }).optional(),
      relative_cutoff: z
        .number()
        .min(0)
        .max(1)
        .meta({ description: 'Floor as a fraction of the best score. 0 disables.' })
        .optional(),
      token_budget: toolTokenBudgetField,
      cursor: toolCursorField,
    }),
    output: z.strictObject({
      trace_id: z.string().meta({ description: 'memory_feedback names it.' }),
      profile: z.string(),
      exact: z
        .boolean()
        .meta({ description: 'Whether these are proven to be the best of everything you may read.' }),
      hits: z.array(
        z.strictObject({
          entry: toolEntrySchema,
          similarity: hit.similarity,
          score: hit.score,
          relevance: hit.relevance,
        }),
      ),
      left_out: toolLeftOutField,
      next_cursor: toolNextCursorField,
    }),
    isReadOnly: true,
    isDestructive: false,
    isIdempotent: true,
  }),
  write: writeTool(z.strictObject(unplacedShape), ` ${PLACE}`),
  update: defineTool({
    name: 'memory_update',
    title: 'Change a memory',
    description:
      'Changes fields of a memory; what you leave out stays, null clears. metadata and tags are replaced whole. Use it for slips and for importance, tags or expiry. When the world has changed, use memory_supersede, which keeps what was known before.',
    input: z.strictObject({ id: memoryIdField, ...patchShape }).meta({ minProperties: 2 }),
    output: z.strictObject({ memory: toolReceiptSchema }),
    isReadOnly: false,
    isDestructive: true,
    isIdempotent: true,
  }),
  supersede: supersedeTool(unplacedDraftSchema, ` ${PLACE}`),
  delete: defineTool({
    name: 'memory_delete',
    title: 'Forget a memory',
    description:
      'Forgets a memory: no search finds it any more. A person can restore it. Use it when somebody asks to forget something, or for what never was true; what was true once is superseded.',
    input: z.strictObject({ id: memoryIdField }),
    output: z.strictObject({ memory: toolReceiptSchema }),
    isReadOnly: false,
    isDestructive: true,
    isIdempotent: true,
  }),
  feedback: defineTool({
    name: 'memory_feedback',
    title: 'Say what a memory was worth',
    description:
      'Says what a memory of a search was worth: accessed (you read it), useful (it helped), not_useful, wrong. Being found counts for nothing; this is the only thing that does. Once per search, memory and signal.',
    input: feedbackSchema,
    output: z.strictObject({
      recorded: z.boolean().meta({ description: 'False when this had been said before.' }),
      memory: toolReceiptSchema,
    }),
    isReadOnly: false,
    isDestructive: false,
    isIdempotent: true,
  }),
  list: defineTool({
    name: 'memory_list',
    title: 'List memories',
    description:
      'Lists memories, newest first, without ranking them. Use it to see what a namespace holds; to find something, use memory_search.',
    input: z.strictObject({
      ...listShape,
      limit: z
        .int()
        .min(1)
        .max(MAX_PAGE_SIZE)
        .meta({ description: 'How many memories at most. Default 50; token_budget may allow fewer.' })
        .optional(),
      token_budget: toolTokenBudgetField,
      cursor: toolCursorField,
    }),
    output: z.strictObject({
      memories: z.array(toolEntrySchema),
      left_out: toolLeftOutField,
      next_cursor: toolNextCursorField,
    }),
    isReadOnly: true,
    isDestructive: false,
    isIdempotent: true,
  }),
} as const satisfies Record<string, ToolDefinition>;

/** Those that place a memory, for an agent whose host says where to: the model is not asked. */
export const PLACED_TOOLS = {
  write: writeTool(z.strictObject(contentShape), ''),
  supersede: supersedeTool(contentDraftSchema, ''),
} as const satisfies Record<string, ToolDefinition>;

function writeTool<Input extends z.ZodType>(input: Input, place: string) {
  return defineTool({
    name: 'memory_write',
    title: 'Remember',
    description: `Stores one memory: one fact, decision, preference, episode or how-to, in a sentence that is understood without this conversation. The same content in the same namespace renews the memory that holds it. importance: 0.9 and more for what everything else rests on, 0.5 for the usual, 0.2 for what is soon forgotten. To correct a memory use memory_supersede.${place}`,
    input,
    output: z.strictObject({
      operation: z
        .enum(['create', 'refresh'])
        .meta({ description: 'refresh: a memory of this namespace held the same content.' }),
      memory: toolReceiptSchema,
    }),
    isReadOnly: false,
    isDestructive: false,
    isIdempotent: true,
  });
}

function supersedeTool<Draft extends z.ZodType>(draft: Draft, place: string) {
  return defineTool({
    name: 'memory_supersede',
    title: 'Replace a memory by a newer one',
    description: `Puts a newer memory in the place of one that is no longer true. The older leaves every search and stays readable by its id. Give either draft, the memory to write, or successor_id, one that exists.${place}`,
    input: z
      .strictObject({
        id: memoryIdField.meta({ description: 'Id of the memory that is no longer true.' }),
        draft: draft.optional(),
        successor_id: memoryIdField.meta({ description: 'Id of a memory that takes its place.' }).optional(),
      })
      .transform(byRule(checkSuccessor, 'draft'))
      .meta({ minProperties: 2, maxProperties: 2 }),
    output: z.strictObject({ superseded: toolReceiptSchema, successor: toolReceiptSchema }),
    isReadOnly: false,
    isDestructive: false,
    isIdempotent: false,
  });
}

export type MemoryTools = typeof MEMORY_TOOLS;

/** In the words of the tool; the API calls an entry that exists `id`. */
function checkSuccessor<Args extends { draft?: unknown; successor_id?: string | undefined }>(
  args: Args,
): Args {
  if ((args.draft === undefined) !== (args.successor_id === undefined)) return args;
  throw invalidInput('Give either draft, the memory to write, or successor_id, one that exists.', {
    path: 'draft',
    allowed: 'draft or successor_id, one of them',
  });
}
