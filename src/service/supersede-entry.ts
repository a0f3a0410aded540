import type { Successor } from '../core/ports.ts';
import type { MemoryDraft, MemoryEntry } from '../core/types.ts';
import { knownId } from './entry-id.ts';
import { prepareDrafts } from './prepare-drafts.ts';
import type { RequestContext } from './request-context.ts';
import { auditOf, type ServiceState } from './service-parts.ts';

/** The new side of a supersession: what to write, or the id of an entry that exists. */
export type SupersedeWith = { readonly draft: MemoryDraft } | { readonly id: string };

export interface SupersedeResult {
  readonly superseded: MemoryEntry;
  readonly successor: MemoryEntry;
}

/** Puts a newer entry in the place of an older one, in one transaction. The older stays readable by id. */
export async function supersedeEntry(
  state: ServiceState,
  context: RequestContext,
  oldId: string,
  newer: SupersedeWith,
): Promise<SupersedeResult> {
  const known = knownId('memory', oldId);
  const successor = await prepareSuccessor(state, context.access.principal.tenantId, newer);
  return state.store.supersede(context.access, known, successor, auditOf(state, context));
}

async function prepareSuccessor(
  state: ServiceState,
  tenantId: string,
  newer: SupersedeWith,
): Promise<Successor> {
  if ('id' in newer) return { id: knownId('memory', newer.id) };
  const [draft] = await prepareDrafts(state, tenantId, [newer.draft]);
  if (draft === undefined) throw new Error('One draft was prepared to none.');
  return { draft };
}
