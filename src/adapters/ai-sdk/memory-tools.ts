import { jsonSchema, type Tool, tool } from 'ai';
import type { JsonObject } from '../../core/types.ts';
import type { MemoryBackend } from '../memory-backend.ts';
import { type MemoryToolOptions, memoryTools as neutralTools } from '../memory-tools.ts';

/** The memory's tools by name, as `generateText` and `ToolLoopAgent` take them. */
export type MemoryToolSet = Record<string, Tool<Record<string, unknown>, JsonObject>>;

/**
 * The memory as tools of an agent: `memory_search`, `memory_write`, `memory_supersede`, `memory_feedback`. Arguments the
 * schema does not allow, and what the user or the policy may not do, come back to the model as the tool's error.
 *
 * @param memory - An opened memory, a handle for one user (`memory.as(…)`), or the HTTP client: it decides whose
 *   memories these are, and no argument of the model does.
 * @throws PalimpsestError `invalid_input`
 */
export function memoryTools(
  memory: Pick<MemoryBackend, 'forTools'>,
  options?: MemoryToolOptions,
): MemoryToolSet {
  return Object.fromEntries(
    neutralTools(options).map(({ name, description, parameters, check, call }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema<Record<string, unknown>>(parameters, {
          validate: (args) => checked(check, args),
        }),
        execute: (args) => call(memory, args),
      }),
    ]),
  );
}

function checked(check: (args: unknown) => Record<string, unknown>, args: unknown) {
  try {
    return { success: true as const, value: check(args) };
  } catch (error) {
    if (error instanceof Error) return { success: false as const, error };
    throw error;
  }
}
