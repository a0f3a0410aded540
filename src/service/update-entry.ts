import type { PreparedPatch } from '../core/ports.ts';
import type { MemoryEntry, MemoryPatch } from '../core/types.ts';
import { contentHash } from './content-hash.ts';
import { knownId } from './entry-id.ts';
import { embedDocuments } from './prepare-drafts.ts';
import type { RequestContext } from './request-context.ts';
import { requestPolicy } from './request-policy.ts';
import { auditOf, type ServiceState } from './service-parts.ts';

export interface UpdateOptions {
  /** Refuses with `precondition_failed` unless the entry still has this version. */
  readonly ifVersion?: number | undefined;
}

/** Changes an entry. New content is embedded first and stored with its vector in one transaction. */
export async function updateEntry(
  state: ServiceState,
  context: RequestContext,
  id: string,
  patch: MemoryPatch,
  options: UpdateOptions = {},
): Promise<MemoryEntry> {
  const known = knownId('memory', id);
  const prepared = await preparePatch(state, context.access.principal.tenantId, patch);
  return state.store.update(
    requestPolicy(context, 'write').asking,
    known,
    prepared,
    auditOf(state, context),
    options,
  );
}

async function preparePatch(
  state: ServiceState,
  tenantId: string,
  patch: MemoryPatch,
): Promise<PreparedPatch> {
  const { content } = patch;
  if (content === undefined) return { patch };
  const [embedded] = await embedDocuments(state, tenantId, [{ content }]);
  return { patch, contentHash: contentHash(content), embeddings: embedded?.embeddings };
}
