import { parseContract } from '../contract/parse-contract.ts';
import type { ToolDefinition } from '../contract/tools/tool.ts';
import { DEFAULT_TOOL_TOKEN_BUDGET } from '../contract/tools/tool-fields.ts';
import { MEMORY_TOOLS } from '../contract/tools/tools.ts';
import type { TokenCounter } from '../core/ports.ts';
import { decodeSearchCursor, encodeSearchCursor } from './search-cursor.ts';
import { listAnswer, searchAnswer, wireReceipt } from './tool-answers.ts';
import type { ToolBackend, WireBody } from './tool-backend.ts';

export interface ToolCallParts {
  readonly backend: ToolBackend;
  readonly counter: () => Promise<TokenCounter>;
}

/** Carries a call out. The arguments are checked already; the answer is in wire form. */
type ToolHandler = (args: WireBody, parts: ToolCallParts) => Promise<Record<string, unknown>>;

const HANDLERS: { readonly [Name in keyof typeof MEMORY_TOOLS]: ToolHandler } = {
  async search(args, { backend, counter }) {
    const { token_budget: budget, cursor, ...search } = args;
    const skip = cursor === undefined ? 0 : decodeSearchCursor(String(cursor), search);
    const [recalled, counts] = await Promise.all([backend.recall(search), counter()]);
    return searchAnswer(recalled, {
      budget: budgetOf(budget),
      counter: counts,
      skip,
      cursorAt: (offset) => encodeSearchCursor(offset, search),
    });
  },
  async write(args, { backend }) {
    const { operation, entry } = await backend.remember(args);
    return { operation, memory: wireReceipt(entry) };
  },
  async update({ id, ...patch }, { backend }) {
    return { memory: wireReceipt(await backend.update(String(id), patch)) };
  },
  async supersede({ id, draft, successor_id: successorId }, { backend }) {
    const newer = draft === undefined ? { id: successorId } : { draft };
    const { superseded, successor } = await backend.supersede(String(id), newer);
    return { superseded: wireReceipt(superseded), successor: wireReceipt(successor) };
  },
  async delete({ id }, { backend }) {
    return { memory: wireReceipt(await backend.forget(String(id))) };
  },
  async feedback(args, { backend }) {
    const { recorded, entry } = await backend.feedback(args);
    return { recorded, memory: wireReceipt(entry) };
  },
  async list(args, { backend, counter }) {
    const { token_budget: budget, ...listed } = args;
    const [page, counts] = await Promise.all([backend.list(listed), counter()]);
    return listAnswer(page, { budget: budgetOf(budget), counter: counts });
  },
};

function budgetOf(tokenBudget: unknown): number {
  return typeof tokenBudget === 'number' ? tokenBudget : DEFAULT_TOOL_TOKEN_BUDGET;
}

/** A tool with what carries it out. */
export interface CallableTool {
  readonly definition: ToolDefinition;
  /**
   * @throws PalimpsestError `invalid_input` for arguments its schema does not allow
   */
  call(args: unknown, parts: ToolCallParts): Promise<Record<string, unknown>>;
}

/** Every tool by the name a client calls it. */
export const CALLABLE_TOOLS: ReadonlyMap<string, CallableTool> = new Map(
  (Object.keys(MEMORY_TOOLS) as (keyof typeof MEMORY_TOOLS)[]).map((key) => {
    const definition = MEMORY_TOOLS[key];
    const call: CallableTool['call'] = async (args, parts) => {
      const sent = args ?? {};
      parseContract<unknown>(definition.input, sent);
      // The schema has said that it is an object.
      return HANDLERS[key](sent as WireBody, parts);
    };
    return [definition.name, { definition, call }];
  }),
);
