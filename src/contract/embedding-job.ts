import { z } from 'zod';
import { type EmbeddingAssignment, parseEmbeddingScope } from '../core/embedding-state.ts';
import type { EmbeddingJob, JobProgress } from '../core/embedding-store.ts';
import { checkQueryText } from '../core/entry.ts';
import { byRule } from './by-rule.ts';
import { jsonObjectSchema } from './json-value.ts';
import { type InCode, toWire } from './wire-form.ts';
import { wireInstant } from './wire-instant.ts';

/** Changes of the embedding model, as faces show them. What a model is opened with is nobody's to see. */

const count = z.int();

const scopeField = z
  .string()
  .meta({
    description: '* for the whole store (default), a namespace, or a namespace and .* for all below it.',
    example: '*',
  })
  .transform(byRule(parseEmbeddingScope, 'scope'));

const provider = z.string().meta({
  description: 'Name of the provider to change to. Default: the one the server is configured with.',
  example: 'minilm',
});

const changeShape = {
  scope: scopeField.optional(),
  switches_itself: z
    .boolean()
    .meta({ description: 'Whether searches switch as soon as it is complete and verified. Default true.' })
    .optional(),
  purges_old: z
    .boolean()
    .meta({
      description:
        'Whether vectors that the switch leaves unused are removed then. Default false: a rollback needs them.',
    })
    .optional(),
};

/**
 * What an administrator sends to change the model. A name and no more: a configuration names services and files that
 * hold keys, and who governs one tenant does not decide what the server's machine sends where.
 */
export const changeRequestSchema = z
  .strictObject({ to: provider.optional(), ...changeShape })
  .transform(inCode);

/** The same in the library, whose caller is the machine's own program and may bring a whole configuration. */
export const configuredChangeSchema = z
  .strictObject({ to: z.union([z.string(), jsonObjectSchema]).optional(), ...changeShape })
  .transform(inCode);

function inCode<To>(change: {
  readonly to?: To | undefined;
  readonly scope?: string | undefined;
  readonly switches_itself?: boolean | undefined;
  readonly purges_old?: boolean | undefined;
}) {
  const { to, scope, switches_itself: switchesItself, purges_old: purgesOld } = change;
  return { to, scope, switchesItself, purgesOld };
}

export const rollbackRequestSchema = z.strictObject({
  scope: scopeField.optional(),
  immediately: z
    .boolean()
    .meta({
      description:
        'Switches back at once, although entries written since may wait for their vector under the old model. Default false.',
    })
    .optional(),
});

/** More would take longer than a request should. */
const MAX_VERIFY_QUERIES = 100;

export const verifyRequestSchema = z.strictObject({
  queries: z
    .array(z.string().transform(byRule(checkQueryText, 'query')))
    .meta({
      maxItems: MAX_VERIFY_QUERIES,
      description: 'What to ask both models for. Default: the beginnings of some entries.',
    })
    .max(MAX_VERIFY_QUERIES)
    .optional(),
});

export const switchRequestSchema = z
  .strictObject({
    accepts_refused: z
      .boolean()
      .meta({
        description:
          'Switches although the model refuses some entries, which are then found no more. Default false.',
      })
      .optional(),
  })
  .transform(({ accepts_refused: acceptsRefused }) => ({ acceptsRefused }));

export const wireRetriedSchema = z
  .strictObject({ retried: count.meta({ description: 'Entries that the model is asked for again.' }) })
  .meta({ id: 'RetriedEntries' });

export const wirePurgedVectorsSchema = z
  .strictObject({ removed: count.meta({ description: 'Vectors that nothing used.' }) })
  .meta({ id: 'PurgedVectors' });

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

interface Status {
  readonly assignments: readonly EmbeddingAssignment[];
  readonly jobs: readonly { readonly job: EmbeddingJob; readonly progress: JobProgress | null }[];
}

export function toWireEmbeddingStatus(status: Status): WireEmbeddingStatus {
  return toWire(wireEmbeddingStatusSchema, shownEmbeddingStatus(status));
}

export function shownEmbeddingStatus(status: Status): InCode<typeof wireEmbeddingStatusSchema> {
  return {
    models: status.assignments.map(({ role, scope, model }) => {
      return { role, scope, modelId: model.modelId, dimensions: model.dimensions };
    }),
    jobs: status.jobs.map(({ job, progress }) => shownJob(job, progress)),
  };
}

export function shownJob(
  job: EmbeddingJob,
  progress?: JobProgress | null,
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
