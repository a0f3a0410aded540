import { z } from 'zod';
import type { RecallTrace } from '../core/ranking/trace.ts';
import type { Breakdown, CutCandidate, RankedHit, ScoredCandidate } from '../core/types.ts';
import { wireProfileSchema } from './ranking-profile.ts';
import { type InCode, toWire } from './wire-form.ts';
import { wireInstant } from './wire-instant.ts';

const score = z.number().nullable();

export const wireBreakdownSchema = z
  .strictObject({
    score: z.number(),
    factors: z.array(
      z.strictObject({
        signal: z.enum(['similarity', 'bonus', 'recency', 'importance', 'frequency']),
        raw: z
          .number()
          .meta({ description: 'What was measured: a cosine, a bonus, an age in days, a count.' }),
        value: z.number().meta({ description: "raw after the signal's own formula." }),
        weight: z.number(),
        contribution: z
          .number()
          .meta({ description: 'value × weight; all contributions add up to the score.' }),
        pattern: z.string().optional().meta({ description: "Of a bonus: its rule's pattern." }),
      }),
    ),
  })
  .meta({ id: 'Breakdown' });

const scoredShape = {
  id: z.string(),
  namespace: z.string(),
  similarity: z.number().nullable(),
  score,
  updated_at: wireInstant,
  breakdown: wireBreakdownSchema.nullable(),
};

/** A hit with the ranking's numbers alone. */
export const wireRankedHitSchema = z.strictObject({
  ...scoredShape,
  duplicates: z.array(z.strictObject(scoredShape)),
});

/** How a ranked read came to its result. */
export const wireTraceSchema = z
  .strictObject({
    id: z.string(),
    now: wireInstant.meta({ description: 'Ages are measured from here.' }),
    query: z.string().nullable(),
    profile: wireProfileSchema,
    parameters: z.strictObject({ top_k: z.int(), min_score: z.number(), relative_cutoff: z.number() }),
    namespaces: z.array(z.string()),
    rules: z.array(
      z.strictObject({
        namespace: z.string(),
        rules: z.array(z.strictObject({ pattern: z.string(), bonus: z.number() })),
      }),
    ),
    hits: z.array(wireRankedHitSchema),
    cut: z.array(
      z.strictObject({
        ...scoredShape,
        reason: z.enum(['min_score', 'relative_cutoff', 'duplicate', 'top_k', 'token_budget']),
        threshold: z.number().nullable(),
        duplicate_of: z.string().nullable(),
      }),
    ),
    cut_count: z.int(),
    index: z.enum(['exact_scan', 'word_scan', 'hnsw', 'resident']),
    exact: z.boolean(),
    certificate: z.strictObject({ exact: z.boolean(), bound: z.number().nullable(), kth_score: score }),
    embedding_model_id: z.string().nullable(),
    measures: z
      .array(
        z.strictObject({
          model_id: z.string().nullable().meta({ description: 'Null where words were compared.' }),
          instead_of: z.string().nullable().meta({
            description: 'The model that searches there use, where something else had to stand in for it.',
          }),
          namespaces: z.array(z.string()).nullable().meta({ description: 'Null: all of the scope.' }),
          waiting: z.int().meta({
            description: 'Entries without a vector under the model yet; not counted beyond 1,000.',
          }),
        }),
      )
      .meta({ description: 'By what similarity was measured; none while browsing.' }),
    degraded: z.boolean(),
    timings: z.record(z.string(), z.number()).meta({ description: 'Milliseconds by step.' }),
  })
  .meta({ id: 'Trace' });

export type WireBreakdown = z.input<typeof wireBreakdownSchema>;
export type WireTrace = z.input<typeof wireTraceSchema>;
/** A trace as it is shown: the ranking's numbers of each candidate, by the names of the wire's fields. */
export type ShownTrace = InCode<typeof wireTraceSchema>;

export function toWireBreakdown(breakdown: Breakdown): WireBreakdown {
  return toWire(wireBreakdownSchema, breakdown);
}

function shownScored({ candidate, score: value, breakdown }: ScoredCandidate) {
  return {
    id: candidate.id,
    namespace: candidate.namespace,
    similarity: candidate.similarity,
    score: value,
    updatedAt: new Date(candidate.updatedAt),
    breakdown,
  };
}

export function shownRankedHit(hit: RankedHit): InCode<typeof wireRankedHitSchema> {
  return { ...shownScored(hit), duplicates: hit.duplicates.map(shownScored) };
}

function shownCut(cut: CutCandidate) {
  const { reason, threshold, duplicateOf } = cut;
  return { ...shownScored(cut), reason, threshold, duplicateOf };
}

export function shownTrace(trace: RecallTrace): ShownTrace {
  return {
    ...trace,
    now: new Date(trace.now),
    hits: trace.hits.map(shownRankedHit),
    cut: trace.cut.map(shownCut),
  };
}

export function toWireTrace(trace: RecallTrace): WireTrace {
  return toWire(wireTraceSchema, shownTrace(trace));
}
