import type { BatchWriteOptions, WriteOptions } from '../core/ports.ts';
import type { UnplacedDraft, WriteResult } from '../core/types.ts';
import { renewLabels } from './embeddings/renew-labels.ts';
import { prepareDrafts } from './prepare-drafts.ts';
import type { RequestContext } from './request-context.ts';
import { type DraftPlace, placed, requestPolicy } from './request-policy.ts';
import { auditOf, type ServiceState } from './service-parts.ts';

interface WriteRequestOptions extends WriteOptions {
  readonly isImport?: boolean | undefined;
}

/** Stores several entries together or none of them; results in the order of the drafts. */
export async function rememberMany(
  state: ServiceState,
  context: RequestContext,
  drafts: readonly UnplacedDraft[],
  options: WriteRequestOptions = {},
): Promise<WriteResult[]> {
  return write(state, context, drafts, placeInBatch, { ...options, namesItems: true });
}

/** Stores one entry, or refreshes the live one of the same namespace and content. */
export async function remember(
  state: ServiceState,
  context: RequestContext,
  draft: UnplacedDraft,
  options: WriteOptions = {},
): Promise<WriteResult> {
  const [result] = await write(state, context, [draft], () => ({ path: 'namespace' }), options);
  if (result === undefined) throw new Error('The store answered no result for one draft.');
  return result;
}

async function write(
  state: ServiceState,
  context: RequestContext,
  drafts: readonly UnplacedDraft[],
  placeOf: (item: number) => DraftPlace,
  { isImport, ...options }: BatchWriteOptions & WriteRequestOptions,
): Promise<WriteResult[]> {
  const prepared = await prepareDrafts(state, context.access.principal.tenantId, drafts);
  const policy = requestPolicy(context, 'write');
  const audit = { ...auditOf(state, context), isImport };
  const results = await state.store.write(policy.asking, placed(policy, prepared, placeOf), audit, options);
  noteWritten(state, results);
  const refreshed = results.flatMap(({ operation, entry }, item) => {
    const before = drafts[item];
    return operation === 'refresh' && before !== undefined ? [{ before, after: entry }] : [];
  });
  await renewLabels(state, refreshed);
  return results;
}

function placeInBatch(item: number): DraftPlace {
  return { path: `memories[${item}].namespace`, item };
}

function noteWritten({ telemetry }: ServiceState, results: readonly WriteResult[]): void {
  const refreshed = results.filter(({ operation }) => operation === 'refresh').length;
  if (refreshed > 0) telemetry.wrote('refresh', refreshed);
  if (refreshed < results.length) telemetry.wrote('create', results.length - refreshed);
}
