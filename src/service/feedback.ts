import type { Feedback, FeedbackResult } from '../core/ports.ts';
import { otherOwners } from '../core/reach.ts';
import { knownId } from './entry-id.ts';
import { noteRead } from './note-read.ts';
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
  const namespaces = [result.entry.namespace];
  // The answer shows the entry: to an administrator too, and that is audited as any other read of theirs.
  if (otherOwners(context.access.principal, namespaces).length > 0) {
    await noteRead(state, context, { operation: 'feedback', namespaces, memoryId: known.memoryId });
  }
  return result;
}
