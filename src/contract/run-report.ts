import { z } from 'zod';
import { MIN_RUN_INPUT_LENGTH } from '../core/defaults.ts';
import { namespaceField, observedAtField } from './fields.ts';

/** What a host sends when a run of its agent has ended. */
export const runReportSchema = z
  .strictObject({
    run_id: z.string().meta({
      minLength: 1,
      maxLength: 128,
      description: 'Reporting the same run again, within a day, stores nothing again.',
      example: 'run-4711',
    }),
    input: z
      .string()
      .meta({
        description: `What the run was asked. Stored from ${MIN_RUN_INPUT_LENGTH} characters (code points) up.`,
      })
      .optional(),
    output: z.string().meta({ description: 'What it answered.' }).optional(),
    namespace: namespaceField
      .meta({ description: "Where to store it. Default: the policy's write_namespace." })
      .optional(),
    observed_at: observedAtField.meta({ description: 'When the run took place.' }).nullish(),
  })
  .transform(({ run_id: runId, observed_at: observedAt, ...same }) => {
    return { ...same, runId, observedAt: observedAt ?? undefined };
  });

const RUN_PARTS = ['input', 'output'] as const;

export const wireRunResultSchema = z
  .strictObject({
    run_id: z.string(),
    is_replay: z
      .boolean()
      .meta({ description: 'Whether the run had been stored before; this is the answer of then.' }),
    stored: z.array(
      z.strictObject({
        part: z.enum(RUN_PARTS),
        memory_id: z.string().meta({ format: 'uuid' }),
        operation: z.enum(['create', 'refresh']),
      }),
    ),
    skipped: z.array(
      z.strictObject({
        part: z.enum(RUN_PARTS),
        reason: z.enum(['not_allowed', 'too_short', 'blank']).meta({
          description:
            'not_allowed: no policy has allow_write. too_short: an input under 80 characters. blank: nothing in it.',
        }),
      }),
    ),
  })
  .meta({ id: 'RunResult' });
