import type { z } from 'zod';

/** One tool that an agent calls: all there is to know about it. MCP and the frameworks' tools are made of these. */
export interface ToolDefinition {
  /** Begins with `memory_`: other servers of the same client have a `search` too. */
  readonly name: `memory_${string}`;
  readonly title: string;
  /** What a model reads to decide when and how to call it. */
  readonly description: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  /** Hints of MCP. Everything else about the world outside is false: tools reach this memory alone. */
  readonly isReadOnly: boolean;
  /** Whether it can take something away that was there. */
  readonly isDestructive: boolean;
  /** Whether calling it twice with the same arguments changes no more than once. */
  readonly isIdempotent: boolean;
}

/** Keeps the exact types of a definition's schemas. */
export function defineTool<const Tool extends ToolDefinition>(tool: Tool): Tool {
  return tool;
}
