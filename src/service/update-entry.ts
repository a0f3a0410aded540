import type { Asking } from '../core/policy.ts';
import type { PreparedPatch } from '../core/ports.ts';
import type { MemoryEntry, MemoryPatch } from '../core/types.ts';
import { contentHash } from './content-hash.ts';
import { embedDocuments } from './embeddings/embed-documents.ts';
import { renewLabels } from './embeddings/renew-labels.ts';
import { knownId } from './entry-id.ts';
import type { RequestContext } from './request-context.ts';
import { requestPolicy } from './request-policy.ts';
import { auditOf, type ServiceState } from './service-parts.ts';

export interface UpdateOptions {
  /** Refuses with `precondition_failed` unless the entry still has this version. */
  readonly ifVersion?: number | undefined;
}

/**
 * Changes an entry. New content is embedded first and stored with its vector in one transaction. Where other fields
 * are embedded with it, a change of these has the vector renewed soon after.
 */
export async function updateEntry(
  state: ServiceState,
  context: RequestContext,
  id: string,
  patch: MemoryPatch,
  options: UpdateOptions = {},
): Promise<MemoryEntry> {
  const known = knownId('memory', id);
  const { asking } = requestPolicy(context, 'write');
  const before = await readBefore(state, asking, known, patch);
  const prepared = await preparePatch(state, patch, before);
  const after = await state.store.update(asking, known, prepared, auditOf(state, context), options);
  if (before !== undefined) await renewLabels(state, [{ before, after }]);
  return after;
}

/** The entry, where its vector depends on it: under which models, and of which text. */
async function readBefore(
  state: ServiceState,
  asking: Asking,
  id: string,
  { content, metadata, source, type }: MemoryPatch,
): Promise<MemoryEntry | undefined> {
  const hasLabels = state.catalog.configured.documentFields.length > 0;
  const isEmbedded = (field: unknown) => field !== undefined;
  const changesText = isEmbedded(content) || (hasLabels && [metadata, source, type].some(isEmbedded));
  if (!changesText) return undefined;
  const [entry] = await state.store.read(asking, (view) => view.entries([id]));
  return entry;
}

async function preparePatch(
  state: ServiceState,
  patch: MemoryPatch,
  before: MemoryEntry | undefined,
): Promise<PreparedPatch> {
  const { content } = patch;
  if (content === undefined) return { patch };
  const prepared = { patch, contentHash: contentHash(content) };
  // What the asker may write but not read is embedded in the background; what isn't there is refused by the store.
  if (before === undefined) return { ...prepared, embeddings: [] };
  const document = {
    content,
    namespace: before.namespace,
    type: patch.type ?? before.type,
    metadata: patch.metadata ?? before.metadata,
    source: patch.source === undefined ? before.source : patch.source,
  };
  const [embeddings] = await embedDocuments(state, before.tenantId, [document]);
  return { ...prepared, embeddings };
}
