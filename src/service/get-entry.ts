import { embeddingPlan } from '../core/embedding-state.ts';
import { notFound } from '../core/errors.ts';
import type { ReadView } from '../core/ports.ts';
import type { EntryEmbedding, MemoryEntry } from '../core/types.ts';
import { knownId } from './entry-id.ts';
import { noteRead } from './note-read.ts';
import type { RequestContext } from './request-context.ts';
import { requestPolicy } from './request-policy.ts';
import type { ServiceState } from './service-parts.ts';

/**
 * Reads an entry by its id, whatever has become of it: an expired, superseded or deleted one says so itself.
 *
 * @throws PalimpsestError `not_found` for an unknown id, and alike for one the asker may not read.
 */
export async function getEntry(
  state: ServiceState,
  context: RequestContext,
  id: string,
): Promise<MemoryEntry> {
  const known = knownId('memory', id);
  const { asking } = requestPolicy(context, 'read');
  const entry = await state.store.read(asking, (view) => readEmbedded(view, known));
  if (entry === undefined) throw notFound('memory', known);
  await noteRead(state, context, { operation: 'get', namespaces: [entry.namespace], memoryId: known });
  return entry;
}

async function readEmbedded(view: ReadView, id: string): Promise<MemoryEntry | undefined> {
  const [entry] = await view.entries([id]);
  return entry === undefined ? undefined : { ...entry, embedding: await embeddingOf(view, entry) };
}

async function embeddingOf(view: ReadView, { id, namespace }: MemoryEntry): Promise<EntryEmbedding | null> {
  const active = embeddingPlan(await view.embeddingState()).active(namespace);
  if (active === null) return null;
  const { modelId } = active;
  const kept = (await view.entryEmbeddings(id)).find((embedding) => embedding.modelId === modelId);
  // An entry that a change of the model has not looked at has no gap yet.
  return kept ?? { modelId, coverage: 'waiting' };
}
