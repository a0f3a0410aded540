import { z } from 'zod';
import type { EmbeddingAssignment } from '../core/embedding-state.ts';
import type { EmbeddingJob, JobProgress } from '../core/embedding-store.ts';
import { type InCode, toWire } from './wire-form.ts';
import { wireInstant } from './wire-instant.ts';

/** Changes of the embedding model, as faces show them. What a model is opened with is nobody's to see. */

const count = z.int();

export const wireVerificationSchema = z
  .strictObject({
    counts: z.strictObject({
      entries: count.meta({ description: 'All of the scope, superseded, expired and deleted ones too.' }),
      vectors: count,
      waiting: count,
      empty: count.meta({ description: 'Nothing to embed in the text.' }),
      refused: count.meta({ description: 'The model refuses the text.' }),
      unseen: count.meta({ description: '0, or the job has not looked at everything.' }),
    }),
    overlap: z
      .strictObject({ k: count, queries: count, mean: z.number(), least: z.number() })
      .nullable()
      .meta({
        description:
          'Share of the k nearest under the old model that are among the k nearest under the new one, over a sample of texts; null where the old model can not be asked.',
      }),
    verified_at: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'ModelChangeVerification' });

export const wireJobProgressSchema = z
  .strictObject({
    entries: count,
    settled: count.meta({ description: 'Entries that need nothing more, the refused ones too.' }),
    refused: count,
    per_second: z.number().nullable(),
    eta_seconds: z.number().nullable(),
    outage: z
      .strictObject({ failures: count, retry_at: wireInstant.nullable(), message: z.string() })
      .nullable()
      .meta({ description: 'While the model does not answer: it is asked again by itself.' }),
  })
  .meta({ id: 'EmbeddingJobProgress' });

export const wireEmbeddingJobSchema = z
  .strictObject({
    id: z.string().meta({ format: 'uuid' }),
    kind: z.enum(['change', 'fill']),
    scope: z.string().meta({ description: '* for the whole store.' }),
    model_id: z.string(),
    dimensions: count,
    previous_model_id: z.string().nullable(),
    status: z.enum(['running', 'paused', 'done', 'cancelled']),
    switches_itself: z.boolean(),
    purges_old: z.boolean(),
    created_by: z.string(),
    created_at: wireInstant,
    finished_at: wireInstant.nullable(),
    verification: wireVerificationSchema.nullable(),
    progress: wireJobProgressSchema.nullable().optional(),
  })
  .meta({ id: 'EmbeddingJob' });

export const wireEmbeddingStatusSchema = z
  .strictObject({
    models: z.array(
      z.strictObject({
        role: z.enum(['active', 'fallback', 'target']),
        scope: z.string(),
        model_id: z.string(),
        dimensions: count,
      }),
    ),
    jobs: z.array(wireEmbeddingJobSchema).meta({ description: 'Newest first.' }),
  })
  .meta({ id: 'EmbeddingStatus' });

export type WireVerification = z.input<typeof wireVerificationSchema>;
export type WireEmbeddingJob = z.input<typeof wireEmbeddingJobSchema>;
export type WireEmbeddingStatus = z.input<typeof wireEmbeddingStatusSchema>;

export function toWireEmbeddingJob(job: EmbeddingJob, progress?: JobProgress | null): WireEmbeddingJob {
  return toWire(wireEmbeddingJobSchema, shownJob(job, progress));
}

export function toWireEmbeddingStatus(status: {
  readonly assignments: readonly EmbeddingAssignment[];
  readonly jobs: readonly { readonly job: EmbeddingJob; readonly progress: JobProgress | null }[];
}): WireEmbeddingStatus {
  return toWire(wireEmbeddingStatusSchema, {
    models: status.assignments.map(({ role, scope, model }) => {
      return { role, scope, modelId: model.modelId, dimensions: model.dimensions };
    }),
    jobs: status.jobs.map(({ job, progress }) => shownJob(job, progress)),
  });
}

function shownJob(
  job: EmbeddingJob,
  progress: JobProgress | null | undefined,
): InCode<typeof wireEmbeddingJobSchema> {
  const { model, previousModel, verification } = job;
  return {
    ...job,
    modelId: model.modelId,
    dimensions: model.dimensions,
    previousModelId: previousModel?.modelId ?? null,
    verification,
    progress,
  };
}
