import { MAX_SUBJECT_ID_LENGTH } from '../core/defaults.ts';
import { checkWord } from '../core/entry.ts';
import { excerpt, PalimpsestError } from '../core/errors.ts';
import type { KeyScope, NewRefusal } from '../core/governance.ts';
import type { JsonObject } from '../core/types.ts';
import { storedId } from './entry-id.ts';
import { auditDetail, type RequestContext } from './request-context.ts';
import type { ServiceState } from './service-parts.ts';

/** A use case as the guard sees it. */
export interface GuardedCall {
  /** Name of the use case, for the audit. */
  readonly operation: string;
  /** What a key or token needs for it, all of a list; null where any will do. */
  readonly scope: KeyScope | readonly KeyScope[] | null;
  /** Ids of entries the request names. */
  readonly memoryIds?: readonly string[] | undefined;
  readonly traceId?: string | undefined;
  readonly keyId?: string | undefined;
}

/**
 * Carries a use case out for whoever may ask for it. What is refused, here or by the work itself, leaves a
 * warning in the audit behind the answer, while the asker sees what they would see of something that isn't there.
 */
export async function guarded<T>(
  state: ServiceState,
  context: RequestContext,
  call: GuardedCall,
  work: () => Promise<T>,
): Promise<T> {
  return state.telemetry.step({ kind: 'operation', name: call.operation }, async () => {
    try {
      checkContext(context, call);
      return await work();
    } catch (error) {
      noteIfRefused(state, context, call, error);
      throw error;
    }
  });
}

/** The same for a use case that answers bit by bit. */
export async function* guardedStream<T>(
  state: ServiceState,
  context: RequestContext,
  call: GuardedCall,
  work: () => AsyncGenerator<T>,
): AsyncGenerator<T> {
  let end = () => {};
  let fail = (_error: unknown) => {};
  const ended = new Promise<void>((resolve, reject) => {
    [end, fail] = [resolve, reject];
  });
  const measured = state.telemetry.step({ kind: 'operation', name: call.operation }, () => ended);
  try {
    checkContext(context, call);
    yield* work();
  } catch (error) {
    noteIfRefused(state, context, call, error);
    fail(error);
    throw error;
  } finally {
    // Also where the reader went away in the middle.
    end();
    // A failure is the reader's to hear of, who has it by now.
    await measured.catch(() => undefined);
  }
}

/** Notes a refusal for the audit. */
export function noteRefusal(
  state: Pick<ServiceState, 'recorder' | 'clock'>,
  context: RequestContext,
  refusal: Omit<NewRefusal, 'occurredAt' | 'detail'> & {
    readonly reason: string;
    readonly detail?: JsonObject;
  },
): void {
  const { reason, detail, ...rest } = refusal;
  state.recorder.noteRefusal(context.access, {
    ...rest,
    occurredAt: state.clock(),
    detail: { ...auditDetail(context, 'write'), reason, ...detail },
  });
}

function checkContext(context: RequestContext, { scope, operation }: GuardedCall): void {
  const { scopes, boundAgentId = null, subject = {} } = context;
  for (const [name, id] of Object.entries({
    agent_id: subject.agentId,
    task_id: subject.taskId,
    chat_id: subject.chatId,
    session_id: subject.sessionId,
  })) {
    if (id !== undefined) checkWord(id, name, MAX_SUBJECT_ID_LENGTH);
  }
  const missing = [scope ?? []].flat().find((needed) => scopes !== undefined && !scopes.includes(needed));
  if (scopes !== undefined && missing !== undefined) throw missingScope(missing, scopes, operation);
  if (boundAgentId !== null && subject.agentId !== boundAgentId) {
    throw new PalimpsestError(
      'forbidden',
      `agent_id: this credential acts for the agent ${excerpt(boundAgentId)} alone.`,
      { details: [{ path: 'agent_id', got: excerpt(subject.agentId ?? null), allowed: boundAgentId }] },
    );
  }
}

function missingScope(scope: KeyScope, scopes: readonly KeyScope[], operation: string): PalimpsestError {
  return new PalimpsestError(
    'forbidden',
    `This credential may not be used to ${operation}: it lacks the scope "${scope}".`,
    {
      details: [
        { path: 'scopes', got: [...scopes], allowed: scope, hint: `Use a key with the scope "${scope}".` },
      ],
    },
  );
}

function noteIfRefused(
  state: ServiceState,
  context: RequestContext,
  call: GuardedCall,
  error: unknown,
): void {
  if (!PalimpsestError.isInstance(error)) return;
  if (error.code === 'not_found') noteNotFound(state, context, call, error);
  if (error.code === 'forbidden') noteForbidden(state, context, call, error);
}

/** What an answer of "not found" was about: an id of the request that is well-formed and that the error names. */
function noteNotFound(
  state: ServiceState,
  context: RequestContext,
  { operation, memoryIds = [], traceId, keyId }: GuardedCall,
  { details }: PalimpsestError,
): void {
  const reason = 'not_found';
  const missing = (id: string | undefined) => {
    const known = storedId(id);
    return details.some(({ got }) => got === known) ? known : null;
  };
  for (const id of memoryIds) {
    const memoryId = missing(id);
    if (memoryId !== null) noteRefusal(state, context, { operation, memoryId, reason });
  }
  const trace = missing(traceId);
  if (trace !== null)
    noteRefusal(state, context, { operation, traceId: trace, reason, detail: { trace_id: trace } });
  const key = missing(keyId);
  if (key !== null) noteRefusal(state, context, { operation, reason, detail: { key_id: key } });
}

function noteForbidden(
  state: ServiceState,
  context: RequestContext,
  { operation, memoryIds = [] }: GuardedCall,
  error: PalimpsestError,
): void {
  const [detail] = error.details;
  const isNamespace = detail?.path === 'namespace' || detail?.path?.endsWith('.namespace') === true;
  noteRefusal(state, context, {
    operation,
    namespace: isNamespace && typeof detail?.got === 'string' ? detail.got : null,
    memoryId: memoryIds.map(storedId).find((id) => id !== null) ?? null,
    reason: error.message,
  });
}
