import { DEFAULT_PAGE_SIZE } from '../core/defaults.ts';
import type { Lifecycle, ListCursor, ListPage, ScopePatterns } from '../core/ports.ts';
import type { MemoryFilter } from '../core/types.ts';
import type { RequestContext } from './request-context.ts';
import type { ServiceState } from './service-parts.ts';

export interface ListRequest {
  /** Default: everything the asker may read. */
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
export function listEntries(
  { store, clock }: ServiceState,
  { access }: RequestContext,
  request: ListRequest,
): Promise<ListPage> {
  return store.list(access, {
    scope: request.namespaces ?? null,
    filter: request.filter ?? {},
    lifecycle: request.lifecycle ?? 'live',
    text: request.text,
    limit: request.limit ?? DEFAULT_PAGE_SIZE,
    after: request.after ?? null,
    now: clock(),
  });
}
