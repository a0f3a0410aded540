import type { Feedback, FeedbackResult } from '../core/ports.ts';
import { knownId } from './entry-id.ts';
import { noteOthersRead } from './note-read.ts';
import type { RequestContext } from './request-context.ts';
import { requestPolicy } from './request-policy.ts';
import { auditOf, type ServiceState } from './service-parts.ts';

/** Records a signal about an entry the asker may read, and moves its counters. */
export async function giveFeedback(
  state: ServiceState,
  context: RequestContext,
  { memoryId, traceId, signal }: Feedback,
): Promise<FeedbackResult> {
  const known = { memoryId: knownId('memory', memoryId), traceId: knownId('trace', traceId), signal };
  const { asking } = requestPolicy(context, 'read');
  const result = await state.store.feedback(asking, known, auditOf(state, context));
  // The answer shows the entry: to an administrator too, and that is audited as any other read of theirs.
  await noteOthersRead(state, context, {
    operation: 'feedback',
    memoryId: known.memoryId,
    namespaces: async () => [result.entry.namespace],
  });
  return result;
}
