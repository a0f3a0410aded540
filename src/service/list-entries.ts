import { DEFAULT_PAGE_SIZE } from '../core/defaults.ts';
import type { Lifecycle, ListCursor, ListPage, ScopePatterns } from '../core/ports.ts';
import type { MemoryFilter } from '../core/types.ts';
import { noteOutOfReach, noteRead } from './note-read.ts';
import type { RequestContext } from './request-context.ts';
import { requestPolicy } from './request-policy.ts';
import type { ServiceState } from './service-parts.ts';

export interface ListRequest {
  /** Default: what the policy reads, else everything the asker may read. */
  readonly namespaces?: ScopePatterns | undefined;
  readonly filter?: MemoryFilter | undefined;
  /** Default `live`: what a search can find. */
  readonly lifecycle?: Lifecycle | undefined;
  /** Words that must all occur in the content, any case. */
  readonly text?: string | undefined;
  /** Entries per page, 1..500, default 50. */
  readonly limit?: number | undefined;
  readonly after?: ListCursor | null | undefined;
}

/** One page of entries, newest first by `createdAt`. Ties, inserts and deletes neither repeat nor skip one. */
export async function listEntries(
  state: ServiceState,
  context: RequestContext,
  request: ListRequest,
): Promise<ListPage> {
  const { asking, applied } = requestPolicy(context, 'read');
  const page = await state.store.list(asking, () => ({
    scope: request.namespaces ?? applied().defaultScope,
    filter: request.filter ?? {},
    lifecycle: request.lifecycle ?? 'live',
    text: request.text,
    limit: request.limit ?? DEFAULT_PAGE_SIZE,
    after: request.after ?? null,
    now: state.clock(),
  }));
  noteOutOfReach(state, context, {
    operation: 'list',
    access: applied().access,
    scope: request.namespaces,
  });
  await noteRead(state, context, {
    operation: 'list',
    namespaces: page.entries.map(({ namespace }) => namespace),
    detail: { hit_count: page.entries.length },
  });
  return page;
}
