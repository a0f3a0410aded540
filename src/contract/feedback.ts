import { z } from 'zod';
import type { FeedbackSignal } from '../core/ports.ts';

export const FEEDBACK_SIGNALS = [
  'accessed',
  'useful',
  'not_useful',
  'wrong',
] as const satisfies readonly FeedbackSignal[];

/** An explicit statement about a hit; counts once per trace, entry and signal. */
export const feedbackSchema = z
  .strictObject({
    memory_id: z.string(),
    trace_id: z.string().meta({ description: 'trace_id of the search that showed the entry.' }),
    signal: z.enum(FEEDBACK_SIGNALS),
  })
  .transform(({ memory_id: memoryId, trace_id: traceId, signal }) => ({ memoryId, traceId, signal }));
