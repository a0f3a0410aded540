import type { Access, JsonObject } from '../core/types.ts';

/** Who asks, and what the audit should know about the request. Every use case takes one first. */
export interface RequestContext {
  readonly access: Access;
  /** Facts for the audit row, such as `tool_call` or `auto_context`. */
  readonly detail?: JsonObject | undefined;
}
