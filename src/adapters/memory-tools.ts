import { z } from 'zod';
import type { FeedbackInput, RecallInput, RememberInput, UpdateInput } from '../contract/inputs.ts';
import { parseContract } from '../contract/parse-contract.ts';
import { toolEntrySchema, toolReceiptSchema } from '../contract/tools/tool-fields.ts';
import { toolJsonSchema } from '../contract/tools/tool-schema.ts';
import { MEMORY_TOOLS, PLACED_TOOLS } from '../contract/tools/tools.ts';
import { fromWire, toWire } from '../contract/wire-form.ts';
import { excerpt, invalidInput } from '../core/errors.ts';
import { parseNamespacePath, parseScope } from '../core/namespace.ts';
import type { JsonObject } from '../core/types.ts';
import { checkOptions } from './check-options.ts';
import type { MemoryBackend, ToolMemory } from './memory-backend.ts';

/** Names of the tools an agent may have, without the `memory_` they begin with. */
export type MemoryToolName = 'search' | 'write' | 'update' | 'supersede' | 'delete' | 'feedback';

export interface MemoryToolOptions {
  /**
   * Which tools the agent has. Default `search`, `write`, `supersede`, `feedback`. What they may do says the agent's
   * policy: `allow_tool_write`, `allow_tool_delete`.
   */
  readonly tools?: readonly MemoryToolName[] | undefined;
  /**
   * Namespace that `write` and `supersede` write to; the model is then not asked. Default: the one the model names,
   * within what the memory's user and policy may write, else the policy's `write_namespace`.
   */
  readonly namespace?: string | undefined;
  /**
   * Paths and patterns that `search` reads; the model is then not asked. Default: those the model names, within what
   * the memory's user and policy may read, else all of that.
   */
  readonly namespaces?: readonly string[] | undefined;
}

/** A tool of an agent, in no framework's words. */
export interface MemoryTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: JsonObject & { type: 'object' };
  /**
   * @returns The arguments, unchanged.
   * @throws PalimpsestError `invalid_input` for arguments its schema does not allow
   */
  check(args: unknown): Record<string, unknown>;
  /** Carries a call out; the answer is JSON in wire form. */
  call(memory: Pick<MemoryBackend, 'forTools'>, args: unknown): Promise<JsonObject>;
}

const OPTIONS: Readonly<Record<keyof MemoryToolOptions, null>> = {
  tools: null,
  namespace: null,
  namespaces: null,
};

const DEFAULT_TOOLS: readonly MemoryToolName[] = ['search', 'write', 'supersede', 'feedback'];

/** What a tool is told to the model, and how what the model sends is carried out. */
interface Work {
  readonly definition: { readonly name: string; readonly description: string };
  readonly input: z.ZodType;
  run(memory: ToolMemory, input: never): Promise<unknown>;
}

// Whether an entry is live depends on the time; what these tools show is.
const entrySchema = toolEntrySchema.omit({ lifecycle: true });
const receiptSchema = toolReceiptSchema.omit({ lifecycle: true });
const receiptAnswer = z.strictObject({ memory: receiptSchema });
const { similarity, score, relevance } = MEMORY_TOOLS.search.output.shape.hits.element.shape;
const searchAnswer = z.strictObject({
  trace_id: z.string(),
  profile: z.string(),
  exact: z.boolean(),
  hits: z.array(z.strictObject({ entry: entrySchema, similarity, score, relevance })),
});
const writeAnswer = receiptAnswer.extend({ operation: z.string() });
const supersedeAnswer = z.strictObject({ superseded: receiptSchema, successor: receiptSchema });
const feedbackAnswer = receiptAnswer.extend({ recorded: z.boolean() });

/** A framework's answer is one text, so the pages that MCP cuts by tokens have no place here: `top_k` bounds it. */
const searchInput = MEMORY_TOOLS.search.input.omit({ token_budget: true, cursor: true });

function searchWork(namespaces: readonly string[] | undefined): Work {
  return {
    definition: MEMORY_TOOLS.search,
    input: namespaces === undefined ? searchInput : searchInput.omit({ namespaces: true }),
    async run(memory, input: RecallInput) {
      return toWire(
        searchAnswer,
        await memory.recall(namespaces === undefined ? input : { ...input, namespaces }),
      );
    },
  };
}

function writeWork(namespace: string | undefined): Work {
  const definition = namespace === undefined ? MEMORY_TOOLS.write : PLACED_TOOLS.write;
  return {
    definition,
    input: definition.input,
    async run(memory, input: RememberInput) {
      const { operation, entry } = await memory.remember(placed(input, namespace));
      return toWire(writeAnswer, { operation, memory: entry });
    },
  };
}

function supersedeWork(namespace: string | undefined): Work {
  const definition = namespace === undefined ? MEMORY_TOOLS.supersede : PLACED_TOOLS.supersede;
  return {
    definition,
    input: definition.input,
    async run(
      memory,
      { id, draft, successorId }: { id: string; draft?: RememberInput; successorId: string },
    ) {
      const successor = draft === undefined ? { id: successorId } : placed(draft, namespace);
      return toWire(supersedeAnswer, await memory.supersede(id, successor));
    },
  };
}

function placed(draft: RememberInput, namespace: string | undefined): RememberInput {
  return namespace === undefined ? draft : { ...draft, namespace };
}

const UPDATE_WORK: Work = {
  definition: MEMORY_TOOLS.update,
  input: MEMORY_TOOLS.update.input,
  async run(memory, { id, ...patch }: UpdateInput & { id: string }) {
    return toWire(receiptAnswer, { memory: await memory.update(id, patch) });
  },
};

const DELETE_WORK: Work = {
  definition: MEMORY_TOOLS.delete,
  input: MEMORY_TOOLS.delete.input,
  async run(memory, { id }: { id: string }) {
    return toWire(receiptAnswer, { memory: await memory.forget(id) });
  },
};

const FEEDBACK_WORK: Work = {
  definition: MEMORY_TOOLS.feedback,
  input: MEMORY_TOOLS.feedback.input,
  async run(memory, input: FeedbackInput) {
    const { recorded, entry } = await memory.feedback(input);
    return toWire(feedbackAnswer, { recorded, memory: entry });
  },
};

/**
 * The memory as tools of an agent. They are the MCP server's, by name, description and arguments.
 *
 * @throws PalimpsestError `invalid_input` for options that make no sense
 */
export function memoryTools(options: MemoryToolOptions = {}): MemoryTool[] {
  checkOptions(options, OPTIONS);
  const { tools = DEFAULT_TOOLS, namespace, namespaces } = options;
  if (namespace !== undefined) parseNamespacePath(namespace, 'namespace');
  if (namespaces !== undefined) parseScope(namespaces, 'namespaces');
  const works: Readonly<Record<MemoryToolName, Work>> = {
    search: searchWork(namespaces),
    write: writeWork(namespace),
    update: UPDATE_WORK,
    supersede: supersedeWork(namespace),
    delete: DELETE_WORK,
    feedback: FEEDBACK_WORK,
  };
  return [...new Set(tools)].map((name) => {
    if (!Object.hasOwn(works, name)) throw unknownTool(name, Object.keys(works));
    return toTool(works[name]);
  });
}

function toTool({ definition: { name, description }, input, run }: Work): MemoryTool {
  const check = (args: unknown) => {
    parseContract<unknown>(input, args);
    // The schema has said that it is an object.
    return args as Record<string, unknown>;
  };
  return {
    name,
    description,
    parameters: toolJsonSchema(input),
    check,
    // Arguments have the wire's names, as everywhere outside; the memory takes those of code. The answer's schema
    // makes JSON of it.
    call: async (memory, args) =>
      (await run(memory.forTools(), fromWire(input, check(args)) as never)) as JsonObject,
  };
}

function unknownTool(name: unknown, names: readonly string[]): Error {
  return invalidInput(`tools: there is no tool ${excerpt(name)}. Allowed: ${names.join(', ')}.`, {
    path: 'tools',
    got: excerpt(name),
    allowed: [...names],
  });
}
