import type { Embedding, PreparedDraft } from '../core/ports.ts';
import type { MemoryDraft } from '../core/types.ts';
import { contentHash } from './content-hash.ts';
import type { ServiceState } from './service-parts.ts';

/** Hashes and embeds drafts, each distinct text once, and makes the model known to the tenant. */
export async function prepareDrafts(
  state: ServiceState,
  tenantId: string,
  drafts: readonly MemoryDraft[],
): Promise<PreparedDraft[]> {
  const embeddings = await embedContents(
    state,
    tenantId,
    drafts.map(({ content }) => content),
  );
  return drafts.map((draft) => ({
    draft,
    contentHash: contentHash(draft.content),
    embeddings: embeddings.get(draft.content) ?? [],
  }));
}

/** The embeddings of each content, under every model that vectors are kept for. */
export async function embedContents(
  { provider, models }: ServiceState,
  tenantId: string,
  contents: readonly string[],
): Promise<ReadonlyMap<string, readonly Embedding[]>> {
  const distinct = [...new Set(contents)];
  const [vectors] = await Promise.all([provider.embed(distinct, 'document'), models.ensure(tenantId)]);
  return new Map(
    distinct.map((content, index) => [
      content,
      [{ modelId: provider.modelId, vector: vectors[index] ?? null }],
    ]),
  );
}
