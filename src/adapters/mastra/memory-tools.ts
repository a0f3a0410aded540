import type { RequestContext } from '@mastra/core/request-context';
import { createTool, type Tool } from '@mastra/core/tools';
import { PalimpsestError } from '../../core/errors.ts';
import type { MemoryBackend } from '../memory-backend.ts';
import { type MemorySource, memoryFinder } from '../memory-source.ts';
import { type MemoryTool, type MemoryToolOptions, memoryTools as neutralTools } from '../memory-tools.ts';

/** The memory's tools by name, as `Agent` takes them. */
export type MastraMemoryTools = Record<string, Tool<Record<string, unknown>, unknown>>;

/**
 * The memory as tools of an agent: `memory_search`, `memory_write`, `memory_supersede`, `memory_feedback`. Arguments the
 * schema does not allow, and what the user or the policy may not do, come back to the model as the tool's error.
 *
 * @param memory - An opened memory, a handle for one user (`memory.as(…)`), the HTTP client, or a function that finds
 *   one by the request context: it decides whose memories these are, and no argument of the model does.
 * @throws PalimpsestError `invalid_input`
 */
export function memoryTools(
  memory: MemorySource<Pick<MemoryBackend, 'forTools'>, RequestContext | undefined>,
  options?: MemoryToolOptions,
): MastraMemoryTools {
  const memoryOf = memoryFinder(memory);
  return Object.fromEntries(
    neutralTools(options).map((tool) => [
      tool.name,
      createTool({
        id: tool.name,
        description: tool.description,
        inputSchema: standardSchema(tool),
        execute: (args, { requestContext }) => tool.call(memoryOf(requestContext), args),
      }),
    ]),
  );
}

/** The tool's schema as Mastra wants one: JSON Schema for the model, and a check of what the model sends. */
function standardSchema({ check, parameters }: MemoryTool) {
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'palimpsest',
      validate: (args: unknown) => checked(check, args),
      jsonSchema: { input: () => parameters, output: () => parameters },
    },
  };
}

function checked(check: MemoryTool['check'], args: unknown) {
  try {
    return { value: check(args) };
  } catch (error) {
    if (PalimpsestError.isInstance(error)) return { issues: [{ message: error.message }] };
    throw error;
  }
}
