import { MAX_PAGE_SIZE } from '../core/defaults.ts';
import type { ListCursor } from '../core/ports.ts';
import type { MemoryEntry } from '../core/types.ts';
import { type ListRequest, listEntries } from './list-entries.ts';
import type { RequestContext } from './request-context.ts';
import type { ServiceState } from './service-parts.ts';

export type ExportRequest = Pick<ListRequest, 'namespaces' | 'filter' | 'lifecycle'>;

/** All entries of a scope, newest first, a page at a time: memory does not grow with their number. */
export async function* exportEntries(
  state: ServiceState,
  context: RequestContext,
  request: ExportRequest,
): AsyncGenerator<MemoryEntry> {
  let after: ListCursor | null = null;
  do {
    const page: Awaited<ReturnType<typeof listEntries>> = await listEntries(state, context, {
      ...request,
      limit: MAX_PAGE_SIZE,
      after,
    });
    yield* page.entries;
    after = page.next;
  } while (after !== null);
}
