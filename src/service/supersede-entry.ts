import type { Deferred, Successor } from '../core/ports.ts';
import type { MemoryEntry, UnplacedDraft } from '../core/types.ts';
import { knownId } from './entry-id.ts';
import { prepareDrafts } from './prepare-drafts.ts';
import type { RequestContext } from './request-context.ts';
import { placed, type RequestPolicy, requestPolicy } from './request-policy.ts';
import { auditOf, type ServiceState } from './service-parts.ts';

/** The new side of a supersession: what to write, or the id of an entry that exists. */
export type SupersedeWith = { readonly draft: UnplacedDraft } | { readonly id: string };

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
  const policy = requestPolicy(context, 'write');
  const successor = await prepareSuccessor(state, policy, context.access.principal.tenantId, newer);
  return state.store.supersede(policy.asking, known, successor, auditOf(state, context));
}

async function prepareSuccessor(
  state: ServiceState,
  policy: RequestPolicy,
  tenantId: string,
  newer: SupersedeWith,
): Promise<Deferred<Successor>> {
  if ('id' in newer) return { id: knownId('memory', newer.id) };
  const prepared = await prepareDrafts(state, tenantId, [newer.draft]);
  const place = placed(policy, prepared, () => ({ path: 'draft.namespace' }));
  return () => {
    const [draft] = place();
    if (draft === undefined) throw new Error('One draft was prepared to none.');
    return { draft };
  };
}
