import type { EmbeddableDocument, EmbeddedDocument, PreparedDraft } from '../core/ports.ts';
import type { UnplacedDraft } from '../core/types.ts';
import { contentHash } from './content-hash.ts';
import type { ServiceState } from './service-parts.ts';

/** A draft that is ready to store, but for the namespace that its policy may have to give. */
export type UnplacedPreparedDraft = Omit<PreparedDraft, 'draft'> & { readonly draft: UnplacedDraft };

/** Hashes and embeds drafts, each distinct text once, and makes the models known to the tenant. */
export async function prepareDrafts(
  state: ServiceState,
  tenantId: string,
  drafts: readonly UnplacedDraft[],
): Promise<UnplacedPreparedDraft[]> {
  const embedded = await embedDocuments(state, tenantId, drafts);
  return drafts.map((draft, item) => ({
    draft,
    contentHash: contentHash(draft.content),
    embeddings: embedded[item]?.embeddings ?? [],
    missing: embedded[item]?.missing,
  }));
}

/** The embeddings of each document, under every model that vectors are kept for; in the order of the documents. */
export async function embedDocuments(
  { embedding, models }: ServiceState,
  tenantId: string,
  documents: readonly EmbeddableDocument[],
): Promise<EmbeddedDocument[]> {
  const distinct = new Map(documents.map((document) => [embedding.textOf(document), document]));
  const [answers] = await Promise.all([
    embedding.embedDocuments([...distinct.values()]),
    models.ensure(tenantId),
  ]);
  const byText = new Map([...distinct.keys()].map((text, place) => [text, answers[place]]));
  return documents.map(
    (document) => byText.get(embedding.textOf(document)) ?? { embeddings: [], missing: [] },
  );
}
