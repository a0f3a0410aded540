import type { MemoryDraft, WriteResult } from '../core/types.ts';
import { prepareDrafts } from './prepare-drafts.ts';
import type { RequestContext } from './request-context.ts';
import { auditOf, type ServiceState } from './service-parts.ts';

/** Stores several entries together or none of them; results in the order of the drafts. */
export async function rememberMany(
  state: ServiceState,
  context: RequestContext,
  drafts: readonly MemoryDraft[],
  options: { readonly isImport?: boolean | undefined } = {},
): Promise<WriteResult[]> {
  const prepared = await prepareDrafts(state, context.access.principal.tenantId, drafts);
  return state.store.write(context.access, prepared, {
    ...auditOf(state, context),
    isImport: options.isImport,
  });
}

/** Stores one entry, or refreshes the live one of the same namespace and content. */
export async function remember(
  state: ServiceState,
  context: RequestContext,
  draft: MemoryDraft,
): Promise<WriteResult> {
  const [result] = await rememberMany(state, context, [draft]);
  if (result === undefined) throw new Error('The store answered no result for one draft.');
  return result;
}
