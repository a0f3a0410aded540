import { storedId } from '../entry-id.ts';
import { noteRefusal } from '../guard.ts';
import type { RequestContext } from '../request-context.ts';
import type { ServiceState } from '../service-parts.ts';
import type { Refusal } from './model.ts';

/** A refusal that a face saw and no use case did; a record for each namespace that was named. */
export function recordRefusal(state: ServiceState, context: RequestContext, refusal: Refusal): void {
  const { operation, reason, namespaces = [] } = refusal;
  const traceId = storedId(refusal.traceId);
  const about = {
    operation,
    reason,
    memoryId: storedId(refusal.memoryId),
    traceId,
    ...(traceId === null ? {} : { detail: { trace_id: traceId } }),
  };
  const named = namespaces.length === 0 ? [null] : namespaces;
  for (const namespace of named) noteRefusal(state, context, { ...about, namespace });
}
