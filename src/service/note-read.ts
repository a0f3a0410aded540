import type { NewAuditRecord } from '../core/governance.ts';
import type { ScopePatterns } from '../core/ports.ts';
import type { RecallTrace } from '../core/ranking/trace.ts';
import { otherOwners, outOfReach } from '../core/reach.ts';
import type { Access, JsonObject } from '../core/types.ts';
import { noteRefusal } from './guard.ts';
import { auditDetail, type RequestContext } from './request-context.ts';
import type { ServiceState } from './service-parts.ts';
import { storedTrace } from './stored-trace.ts';

/** A read that was carried out. */
export interface Read {
  /** Name of the use case. */
  readonly operation: string;
  /** Namespaces that something was read from. */
  readonly namespaces: Iterable<string>;
  /** The entry, where it was read by its id. */
  readonly memoryId?: string | undefined;
  readonly trace?: RecallTrace | undefined;
  readonly detail?: JsonObject | undefined;
}

/**
 * Writes a read down. Behind the answer, and where a slow database can't take it not at all; but what an
 * administrator reads of other users' is written before it is answered, and not read if it can't be written.
 */
export async function noteRead(state: ServiceState, context: RequestContext, read: Read): Promise<void> {
  const { access } = context;
  const { operation, namespaces, memoryId, trace, detail } = read;
  const owners = otherOwners(access.principal, namespaces);
  const record: NewAuditRecord = {
    action: 'read',
    operation,
    occurredAt: trace?.now ?? state.clock(),
    memoryId: memoryId ?? null,
    namespace: memoryId === undefined ? null : onlyOne(namespaces),
    detail: {
      ...auditDetail(context, 'read'),
      ...detail,
      ...(owners.length === 0 ? {} : { admin_actor_id: access.principal.userId, owner_ids: owners }),
    },
  };
  if (owners.length === 0) {
    state.recorder.noteRead(access, { record, trace });
    return;
  }
  const traces = trace === undefined ? [] : [storedTrace(access, trace, state.traceForm)];
  await state.governance.appendTraces(access, traces, [record]);
}

/**
 * Writes a look-up down where an administrator was shown what is other users', before it is answered. What somebody
 * looks up about their own leaves nothing.
 *
 * @param read.namespaces - Those that were looked at; asked for where it makes a difference.
 */
export async function noteOthersRead(
  state: ServiceState,
  context: RequestContext,
  read: Pick<Read, 'operation' | 'memoryId'> & { readonly namespaces: () => Promise<readonly string[]> },
): Promise<void> {
  const { principal } = context.access;
  if (!principal.isAdmin || principal.isTenantWide) return;
  const namespaces = await read.namespaces();
  if (otherOwners(principal, namespaces).length > 0) await noteRead(state, context, { ...read, namespaces });
}

function onlyOne(values: Iterable<string>): string | null {
  const [value = null] = values;
  return value;
}

/** Leaves a warning for each pattern of a scope that names only what the asker may not read. */
export function noteOutOfReach(
  state: ServiceState,
  context: RequestContext,
  read: { readonly operation: string; readonly access: Access; readonly scope: ScopePatterns | undefined },
): void {
  const { operation, access, scope } = read;
  for (const { pattern, unlessConsentOf } of outOfReach(access, scope ?? [])) {
    noteRefusal(state, context, {
      operation,
      namespace: pattern,
      unlessConsentOf,
      reason: 'The namespace is not the asker’s to read.',
    });
  }
}
