import type { EmbeddableDocument } from '../../core/ports.ts';
import type { MemoryEntry } from '../../core/types.ts';
import type { ServiceState } from '../service-parts.ts';

/**
 * Has entries embedded anew whose content is the same while a field that is embedded with it is another one: the
 * speaker was corrected, or a repeated write brought metadata that merged with what was there.
 *
 * @param changes - `before`: what the vectors of the entry were made of.
 */
export async function renewLabels(
  { catalog, embeddings, backfill }: Pick<ServiceState, 'catalog' | 'embeddings' | 'backfill'>,
  changes: readonly { readonly before: EmbeddableDocument; readonly after: MemoryEntry }[],
): Promise<void> {
  const { documentFields, textOf } = catalog.configured;
  if (documentFields.length === 0) return;
  const renewed = changes.filter(
    ({ before, after }) => before.content === after.content && textOf(before) !== textOf(after),
  );
  const [first] = renewed;
  if (first === undefined) return;
  await embeddings.requeueEntries(
    first.after.tenantId,
    renewed.map(({ after }) => after.id),
  );
  backfill.kick();
}
