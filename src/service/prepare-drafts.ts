import type { PreparedDraft } from '../core/ports.ts';
import type { UnplacedDraft } from '../core/types.ts';
import { contentHash } from './content-hash.ts';
import { embedDocuments } from './embeddings/embed-documents.ts';
import type { ServiceState } from './service-parts.ts';

/** A draft that is ready to store, but for the namespace that its policy may have to give. */
export type UnplacedPreparedDraft = Omit<PreparedDraft, 'draft'> & { readonly draft: UnplacedDraft };

/** Hashes and embeds drafts, each distinct text once. */
export async function prepareDrafts(
  state: ServiceState,
  tenantId: string,
  drafts: readonly UnplacedDraft[],
): Promise<UnplacedPreparedDraft[]> {
  const embeddings = await embedDocuments(state, tenantId, drafts);
  return drafts.map((draft, item) => ({
    draft,
    contentHash: contentHash(draft.content),
    embeddings: embeddings[item] ?? [],
  }));
}
