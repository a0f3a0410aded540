import { z } from 'zod';
import type { FeedbackResult, FeedbackSignal } from '../core/ports.ts';
import { shownEntry, wireEntrySchema } from './memory-entry.ts';
import type { InCode } from './wire-form.ts';

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

export const wireFeedbackResultSchema = z
  .strictObject({
    recorded: z.boolean().meta({ description: 'False when this signal had been given before.' }),
    entry: wireEntrySchema,
  })
  .meta({ id: 'FeedbackResult' });

/** @param now - Milliseconds since the epoch. */
export function shownFeedbackResult(
  { recorded, entry }: FeedbackResult,
  now: number,
): InCode<typeof wireFeedbackResultSchema> {
  return { recorded, entry: shownEntry(entry, now) };
}

/** How often each signal was given for an entry. */
export const wireFeedbackSummarySchema = z
  .strictObject({
    signals: z.array(z.strictObject({ signal: z.enum(FEEDBACK_SIGNALS), count: z.int() })),
  })
  .meta({ id: 'FeedbackSummary' });

export function shownFeedbackSummary(
  counts: Readonly<Record<FeedbackSignal, number>>,
): InCode<typeof wireFeedbackSummarySchema> {
  return { signals: FEEDBACK_SIGNALS.map((signal) => ({ signal, count: counts[signal] })) };
}
