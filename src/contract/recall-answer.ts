import { z } from 'zod';
import type { RecallTrace } from '../core/ranking/trace.ts';
import type { MemoryHit } from '../core/types.ts';
import { toWireEntry, wireEntrySchema } from './memory-entry.ts';
import { toWireBreakdown, toWireTrace, wireBreakdownSchema, wireTraceSchema } from './ranking-trace.ts';

const instant = z.string().meta({ format: 'date-time' });
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

export const wireHitSchema = z.strictObject({
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
      created_at: instant,
      updated_at: instant,
      observed_at: instant.nullable(),
      metadata: z.record(z.string(), z.json()),
    }),
  ),
});

/** What a search answers. */
export const wireRecallAnswerSchema = z.strictObject({
  trace_id: z.string().meta({ format: 'uuid', description: 'Feedback names it.' }),
  profile: z.string(),
  exact: z.boolean().meta({ description: 'Whether the hits are proven to be the exact best of the scope.' }),
  hits: z.array(wireHitSchema),
  trace: wireTraceSchema.optional(),
});

export type WireHit = z.output<typeof wireHitSchema>;
export type WireRecallAnswer = z.output<typeof wireRecallAnswerSchema>;

export function toWireHit(hit: MemoryHit, now: number): WireHit {
  return {
    entry: toWireEntry(hit.entry, now),
    similarity: hit.similarity,
    score: hit.score,
    relevance: hit.relevance,
    breakdown: hit.breakdown === null ? null : toWireBreakdown(hit.breakdown),
    duplicates: hit.duplicates.map((duplicate) => ({
      id: duplicate.id,
      namespace: duplicate.namespace,
      similarity: duplicate.similarity,
      score: duplicate.score,
      relevance: duplicate.relevance,
      created_at: duplicate.createdAt.toISOString(),
      updated_at: duplicate.updatedAt.toISOString(),
      observed_at: duplicate.observedAt?.toISOString() ?? null,
      metadata: duplicate.metadata,
    })),
  };
}

export function toWireRecallAnswer(
  result: { readonly hits: readonly MemoryHit[]; readonly trace: RecallTrace },
  options: { readonly explain?: boolean | undefined } = {},
): WireRecallAnswer {
  const { trace } = result;
  return {
    trace_id: trace.id,
    profile: trace.profile.name,
    exact: trace.exact,
    hits: result.hits.map((hit) => toWireHit(hit, trace.now)),
    ...(options.explain === true ? { trace: toWireTrace(trace) } : {}),
  };
}
