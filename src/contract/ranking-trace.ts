import { z } from 'zod';
import type { RecallTrace } from '../core/ranking/trace.ts';
import type { Breakdown, CutCandidate, RankingProfile, ScoredCandidate } from '../core/types.ts';

const score = z.number().nullable();

export const wireBreakdownSchema = z.strictObject({
  score: z.number(),
  factors: z.array(
    z.strictObject({
      signal: z.enum(['similarity', 'bonus', 'recency', 'importance', 'frequency']),
      raw: z.number().meta({ description: 'What was measured: a cosine, a bonus, an age in days, a count.' }),
      value: z.number().meta({ description: "raw after the signal's own formula." }),
      weight: z.number(),
      contribution: z
        .number()
        .meta({ description: 'value × weight; all contributions add up to the score.' }),
      pattern: z.string().optional().meta({ description: "Of a bonus: its rule's pattern." }),
    }),
  ),
});

const scoredShape = {
  id: z.string(),
  namespace: z.string(),
  similarity: z.number().nullable(),
  score,
  updated_at: z.string().meta({ format: 'date-time' }),
  breakdown: wireBreakdownSchema.nullable(),
};

const wireProfileSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('boosted'),
    name: z.string(),
    recency_decay: z.number(),
    min_score: z.number(),
    relative_cutoff: z.number(),
    top_k: z.int(),
  }),
  z.strictObject({
    kind: z.literal('weighted'),
    name: z.string(),
    weights: z.strictObject({
      similarity: z.number(),
      recency: z.number(),
      importance: z.number(),
      frequency: z.number(),
    }),
    half_life_days: z.number(),
    frequency_saturation: z.number(),
    frequency_source: z.enum(['validated_access_count', 'access_count']),
    min_score: z.number(),
    relative_cutoff: z.number(),
    top_k: z.int(),
  }),
]);

/** How a ranked read came to its result. */
export const wireTraceSchema = z.strictObject({
  id: z.string(),
  now: z.string().meta({ format: 'date-time', description: 'Ages are measured from here.' }),
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
  hits: z.array(z.strictObject({ ...scoredShape, duplicates: z.array(z.strictObject(scoredShape)) })),
  cut: z.array(
    z.strictObject({
      ...scoredShape,
      reason: z.enum(['min_score', 'relative_cutoff', 'duplicate', 'top_k', 'token_budget']),
      threshold: z.number().nullable(),
      duplicate_of: z.string().nullable(),
    }),
  ),
  cut_count: z.int(),
  index: z.enum(['exact_scan', 'hnsw', 'resident']),
  exact: z.boolean(),
  certificate: z.strictObject({ exact: z.boolean(), bound: z.number().nullable(), kth_score: score }),
  embedding_model_id: z.string().nullable(),
  timings: z.record(z.string(), z.number()).meta({ description: 'Milliseconds by step.' }),
});

export type WireBreakdown = z.output<typeof wireBreakdownSchema>;
export type WireTrace = z.output<typeof wireTraceSchema>;

export function toWireBreakdown({ score: sum, factors }: Breakdown): WireBreakdown {
  return {
    score: sum,
    factors: factors.map(({ signal, raw, value, weight, contribution, pattern }) => ({
      signal,
      raw,
      value,
      weight,
      contribution,
      ...(pattern === undefined ? {} : { pattern }),
    })),
  };
}

function toWireScored({ candidate, score: value, breakdown }: ScoredCandidate) {
  return {
    id: candidate.id,
    namespace: candidate.namespace,
    similarity: candidate.similarity,
    score: value,
    updated_at: new Date(candidate.updatedAt).toISOString(),
    breakdown: breakdown === null ? null : toWireBreakdown(breakdown),
  };
}

function toWireCut(cut: CutCandidate) {
  return {
    ...toWireScored(cut),
    reason: cut.reason,
    threshold: cut.threshold,
    duplicate_of: cut.duplicateOf,
  };
}

function toWireProfile(profile: RankingProfile): z.output<typeof wireProfileSchema> {
  const same = {
    name: profile.name,
    min_score: profile.minScore,
    relative_cutoff: profile.relativeCutoff,
    top_k: profile.topK,
  };
  if (profile.kind === 'boosted') return { kind: profile.kind, ...same, recency_decay: profile.recencyDecay };
  return {
    kind: profile.kind,
    ...same,
    weights: { ...profile.weights },
    half_life_days: profile.halfLifeDays,
    frequency_saturation: profile.frequencySaturation,
    frequency_source: profile.frequencySource,
  };
}

export function toWireTrace(trace: RecallTrace): WireTrace {
  return {
    id: trace.id,
    now: new Date(trace.now).toISOString(),
    query: trace.query,
    profile: toWireProfile(trace.profile),
    parameters: {
      top_k: trace.parameters.topK,
      min_score: trace.parameters.minScore,
      relative_cutoff: trace.parameters.relativeCutoff,
    },
    namespaces: [...trace.namespaces],
    rules: trace.rules.map(({ namespace, rules }) => ({
      namespace,
      rules: rules.map((rule) => ({ ...rule })),
    })),
    hits: trace.hits.map((hit) => ({ ...toWireScored(hit), duplicates: hit.duplicates.map(toWireScored) })),
    cut: trace.cut.map(toWireCut),
    cut_count: trace.cutCount,
    index: trace.index,
    exact: trace.exact,
    certificate: {
      exact: trace.certificate.exact,
      bound: trace.certificate.bound,
      kth_score: trace.certificate.kthScore,
    },
    embedding_model_id: trace.embeddingModelId,
    timings: { ...trace.timings },
  };
}
