import type { KeyScope } from '../core/governance.ts';
import type { RequestSubject } from '../core/request-policy.ts';
import type { Access, JsonObject } from '../core/types.ts';

export type { RequestSubject } from '../core/request-policy.ts';

/**
 * How a request came about, where a policy makes a difference. `tool_call`: an agent's tool made it. `automatic`:
 * the host made it unasked, to fill a context or to store a run.
 */
export type RequestOrigin = 'tool_call' | 'automatic';

/** Who asks, and what the audit should know about the request. Every use case takes one first. */
export interface RequestContext {
  readonly access: Access;
  /** What the asker's key or token may be used for. Default: everything (the library, the local operator). */
  readonly scopes?: readonly KeyScope[] | undefined;
  /** The one agent the asker's token may act for. Default: any. */
  readonly boundAgentId?: string | null | undefined;
  readonly subject?: RequestSubject | undefined;
  readonly origin?: RequestOrigin | undefined;
  /** Further facts for the audit row, such as `request_id`. */
  readonly detail?: JsonObject | undefined;
}

/** What the audit says about how and for whom a request was made. */
export function auditDetail(
  { subject = {}, origin, detail }: RequestContext,
  kind: 'read' | 'write',
): JsonObject {
  const { agentId, taskId, chatId, sessionId } = subject;
  return {
    ...detail,
    ...(agentId === undefined ? {} : { agent_id: agentId }),
    ...(taskId === undefined ? {} : { task_id: taskId }),
    ...(chatId === undefined ? {} : { chat_id: chatId }),
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    ...(origin === 'tool_call' ? { tool_call: true } : {}),
    ...(origin === 'automatic' ? { [kind === 'read' ? 'auto_context' : 'auto_write']: true } : {}),
  };
}
