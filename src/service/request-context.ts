import type { KeyScope } from '../core/governance.ts';
import type { Access, JsonObject } from '../core/types.ts';

/** On whose behalf a request is made: what policies are found by and their patterns are filled with. */
export interface RequestSubject {
  readonly agentId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly chatId?: string | undefined;
  readonly sessionId?: string | undefined;
}

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
