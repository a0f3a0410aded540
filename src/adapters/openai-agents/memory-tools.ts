import { type FunctionTool, tool } from '@openai/agents-core';
import { PalimpsestError } from '../../core/errors.ts';
import type { MemoryBackend } from '../memory-backend.ts';
import { type MemorySource, memoryFinder } from '../memory-source.ts';
import { type MemoryToolOptions, memoryTools as neutralTools } from '../memory-tools.ts';

/** JSON Schema as `tool` takes it where it is not to be made strict. */
type OpenSchema = Extract<FunctionTool['parameters'], { additionalProperties: true }>;

/** A tool of the memory, as `Agent` takes it. */
export type AgentMemoryTool<Context> = FunctionTool<Context, OpenSchema, string>;

/**
 * The memory as tools of an agent: `memory_search`, `memory_write`, `memory_supersede`, `memory_feedback`. They answer
 * JSON. Arguments the schema does not allow, and what the user or the policy may not do, come back to the model as the
 * tool's error.
 *
 * @param memory - An opened memory, a handle for one user (`memory.as(…)`), the HTTP client, or a function that finds
 *   one by the run's context: it decides whose memories these are, and no argument of the model does.
 * @throws PalimpsestError `invalid_input`
 */
export function memoryTools<Context = unknown>(
  memory: MemorySource<Pick<MemoryBackend, 'forTools'>, Context | undefined>,
  options?: MemoryToolOptions,
): AgentMemoryTool<Context>[] {
  const memoryOf = memoryFinder(memory);
  return neutralTools(options).map(({ name, description, parameters, call }) =>
    tool<OpenSchema, Context, string>({
      name,
      description,
      // Passed on as it is; the SDK's type knows objects that allow more fields, ours do not.
      parameters: parameters as unknown as OpenSchema,
      // Strict schemas make every field required.
      strict: false,
      errorFunction: (_, error) => messageOf(error),
      execute: async (args, run) => JSON.stringify(await call(memoryOf(run?.context), args)),
    }),
  );
}

/** The SDK's own text says that something failed, and a model can't mend what it is not told. */
function messageOf(error: unknown): string {
  if (PalimpsestError.isInstance(error)) return `${error.code}: ${error.message}`;
  throw error;
}
