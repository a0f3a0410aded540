import { z } from 'zod';
import { MAX_TOP_K, MIN_TOP_K } from '../core/defaults.ts';
import { wireWarningsField } from './warning.ts';
import { wireInstant } from './wire-instant.ts';

const VARIABLES =
  '${user_id}, ${agent_id}, ${task_id}, ${chat_id} and ${session_id} are filled from the request.';

const patterns = z.array(z.string());
const profile = z.string().meta({ example: 'boosted' });
const topK = z.number().meta({ type: 'integer', minimum: MIN_TOP_K, maximum: MAX_TOP_K });
const minScore = z.number().meta({ minimum: 0 });
const relativeCutoff = z.number().meta({
  minimum: 0,
  maximum: 1,
  description: 'From 0.8 upwards the answer warns: many legitimate hits go.',
});
const tokenBudget = z.number().meta({ type: 'integer', minimum: 0 });

/** What an administrator sends to make or replace the policy of an agent or a task. */
export const policyDraftSchema = z
  .strictObject({
    read_namespaces: patterns
      .meta({
        description: `Patterns the agent may read. ${VARIABLES}`,
        example: ['vector.user.${user_id}.*', 'vector.global.*'],
      })
      .optional(),
    write_namespace: z
      .string()
      .meta({
        description: 'Where memories go that name no namespace.',
        example: 'vector.agent.${user_id}.runs',
      })
      .nullish(),
    allowed_write_namespaces: patterns
      .meta({ description: 'Patterns that writes may go to, beside write_namespace.' })
      .optional(),
    allow_write: z
      .boolean()
      .meta({ description: 'Whether runs are stored automatically. Default false.' })
      .optional(),
    allow_tool_write: z
      .boolean()
      .meta({ description: "Whether the agent's tools may write. Default false." })
      .optional(),
    allow_tool_delete: z
      .boolean()
      .meta({ description: "Whether the agent's tools may delete. Default false." })
      .optional(),
    profile: profile.nullish(),
    top_k: topK.nullish(),
    min_score: minScore.nullish(),
    relative_cutoff: relativeCutoff.nullish(),
    token_budget: tokenBudget.meta({ description: 'Tokens a memory block may take.' }).nullish(),
  })
  .transform((draft) => ({
    readNamespaces: draft.read_namespaces,
    writeNamespace: draft.write_namespace,
    allowedWriteNamespaces: draft.allowed_write_namespaces,
    allowWrite: draft.allow_write,
    allowToolWrite: draft.allow_tool_write,
    allowToolDelete: draft.allow_tool_delete,
    profile: draft.profile,
    topK: draft.top_k,
    minScore: draft.min_score,
    relativeCutoff: draft.relative_cutoff,
    tokenBudget: draft.token_budget,
  }));

export const wirePolicySchema = z
  .strictObject({
    subject: z.strictObject({ kind: z.enum(['agent', 'task']), id: z.string() }),
    read_namespaces: patterns,
    write_namespace: z.string().nullable(),
    allowed_write_namespaces: patterns,
    allow_write: z.boolean(),
    allow_tool_write: z.boolean(),
    allow_tool_delete: z.boolean(),
    profile: profile.nullable(),
    top_k: topK.nullable(),
    min_score: minScore.nullable(),
    relative_cutoff: relativeCutoff.nullable(),
    token_budget: tokenBudget.nullable(),
    created_at: wireInstant,
    updated_at: wireInstant,
  })
  .meta({ id: 'MemoryPolicy' });

export const wireKeptPolicySchema = z
  .strictObject({ policy: wirePolicySchema, warnings: wireWarningsField })
  .meta({ id: 'KeptPolicy' });

export const wirePolicyListSchema = z
  .strictObject({ policies: z.array(wirePolicySchema) })
  .meta({ id: 'MemoryPolicyList' });
