import type { HistoryChain } from '../core/ports.ts';
import { knownId } from './entry-id.ts';
import { noteRead } from './note-read.ts';
import type { RequestContext } from './request-context.ts';
import { requestPolicy } from './request-policy.ts';
import type { ServiceState } from './service-parts.ts';

/** The whole chain of supersession an entry stands in, as far as the asker may read it, oldest first. */
export async function entryHistory(
  state: ServiceState,
  context: RequestContext,
  id: string,
): Promise<HistoryChain> {
  const memoryId = knownId('memory', id);
  const chain = await state.store.history(requestPolicy(context, 'read').asking, memoryId);
  const asked = chain.entries.filter((entry) => entry.id === memoryId);
  await noteRead(state, context, {
    operation: 'history',
    // The asked one's namespace stands first: it is the one the record names.
    namespaces: [...asked, ...chain.entries].map(({ namespace }) => namespace),
    memoryId,
    detail: { hit_count: chain.entries.length },
  });
  return chain;
}
