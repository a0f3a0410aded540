import { z } from 'zod';
import type { RecallTrace } from '../core/ranking/trace.ts';
import type { MemoryHit } from '../core/types.ts';
import { jsonObjectSchema } from './json-value.ts';
import { shownEntry, wireEntrySchema } from './memory-entry.ts';
import { shownTrace, wireBreakdownSchema, wireTraceSchema } from './ranking-trace.ts';
import { wireWarningsField } from './warning.ts';
import { type InCode, toWire } from './wire-form.ts';
import { wireInstant } from './wire-instant.ts';

const similarity = z
  .number()
  .nullable()
  .meta({ description: 'What was measured: cosine similarity in [0, 1]; null without a query.' });
const score = z
  .number()
  .nullable()
  .meta({ description: 'What it is worth under the profile; null while browsing.' });
const relevance = z
  .number()
  .nullable()
  .meta({ description: 'The score under its boosted name; can exceed 1. Null under a weighted profile.' });

export const wireHitSchema = z
  .strictObject({
    entry: wireEntrySchema,
    similarity,
    score,
    relevance,
    breakdown: wireBreakdownSchema.nullable(),
    duplicates: z.array(
      z.strictObject({
        id: z.string(),
        namespace: z.string(),
        similarity,
        score,
        relevance,
        created_at: wireInstant,
        updated_at: wireInstant,
        observed_at: wireInstant.nullable(),
        metadata: jsonObjectSchema,
      }),
    ),
  })
  .meta({ id: 'Hit' });

/** What a search answers. */
export const wireRecallAnswerSchema = z
  .strictObject({
    trace_id: z.string().meta({ format: 'uuid', description: 'Feedback names it.' }),
    profile: z.string(),
    exact: z
      .boolean()
      .meta({ description: 'Whether the hits are proven to be the exact best of the scope.' }),
    embedding_model_id: z.string().nullable().meta({
      description: 'The model that measured similarity; null while browsing, and where words were compared.',
    }),
    degraded: z.boolean().meta({
      description:
        'Whether anything but the usual embedding model with all its vectors measured similarity: a fallback, words, or a model for which entries still wait. The trace says which.',
    }),
    hits: z.array(wireHitSchema),
    warnings: wireWarningsField,
    token_budget: z.int().nullable().meta({
      description: 'Tokens the policy lets a memory block of these hits take; null: it says nothing.',
    }),
    trace: wireTraceSchema.optional(),
  })
  .meta({ id: 'RecallAnswer' });

export type WireHit = z.input<typeof wireHitSchema>;
export type WireRecallAnswer = z.input<typeof wireRecallAnswerSchema>;
export type ShownHit = InCode<typeof wireHitSchema>;
export type ShownRecallAnswer = InCode<typeof wireRecallAnswerSchema>;

/** @param now - Milliseconds since the epoch. */
export function toWireHit(hit: MemoryHit, now: number): WireHit {
  return toWire(wireHitSchema, shownHit(hit, now));
}

function shownHit(hit: MemoryHit, now: number): ShownHit {
  return { ...hit, entry: shownEntry(hit.entry, now) };
}

export interface RecallAnswerOptions {
  /** Whether to show the trace too. Default false. */
  readonly explain?: boolean | undefined;
}

/** What a recall gives, as the service has it. */
interface Recalled {
  readonly hits: readonly MemoryHit[];
  readonly trace: RecallTrace;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly tokenBudget: number | null;
}

export function shownRecallAnswer(
  { hits, trace, warnings, tokenBudget }: Recalled,
  options: RecallAnswerOptions = {},
): ShownRecallAnswer {
  return {
    traceId: trace.id,
    profile: trace.profile.name,
    exact: trace.exact,
    embeddingModelId: trace.embeddingModelId,
    degraded: trace.degraded,
    hits: hits.map((hit) => shownHit(hit, trace.now)),
    warnings,
    tokenBudget,
    ...(options.explain === true ? { trace: shownTrace(trace) } : {}),
  };
}

export function toWireRecallAnswer(recalled: Recalled, options: RecallAnswerOptions = {}): WireRecallAnswer {
  return toWire(wireRecallAnswerSchema, shownRecallAnswer(recalled, options));
}
