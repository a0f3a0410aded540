import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { toWireError } from '../contract/error-body.ts';
import { toolJsonSchema } from '../contract/tools/tool-schema.ts';
import { ERROR_CODES, excerpt, PalimpsestError } from '../core/errors.ts';
import { jsonText } from '../core/json-text.ts';
import { parseNamespacePath } from '../core/namespace.ts';
import { GUIDE_PROMPT, guideText, INSTRUCTIONS } from './guide.ts';
import { listResources, RESOURCE_TEMPLATES, readResource } from './resources.ts';
import { CALLABLE_TOOLS, type CallableTool, type ToolCallParts } from './tool-handlers.ts';

export interface McpServerParts extends ToolCallParts {
  /** Version of the product. */
  readonly version: string;
  /** Told of what is ours to mend; a client hears that something went wrong. */
  readonly onError: (error: unknown) => void;
}

/** MCP's own code for a resource that is not there. */
const RESOURCE_NOT_FOUND = -32_002;

/**
 * An MCP server on a memory, still to be connected.
 *
 * Made of the SDK's plain `Server` and not of its `McpServer`, which derives the published schemas itself and
 * checks arguments by rules of its own: here both are the contract's, so that what is published is what is
 * accepted, and a refusal has the product's one shape.
 */
export function createMcpServer({ version, backend, counter, onError }: McpServerParts): Server {
  const server = new Server(
    { name: 'palimpsest', title: 'Palimpsest', version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: NO_VALIDATOR,
    },
  );
  const parts = { backend, counter };
  server.onerror = (error) => onError(protocolFault(error));
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: publishedTools() }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    callTool(toolNamed(params.name), params.arguments, parts, onError),
  );
  server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => ({
    resourceTemplates: RESOURCE_TEMPLATES,
  }));
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) =>
    asMcpErrors(onError, () => listResources(backend, params?.cursor)),
  );
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) =>
    asMcpErrors(onError, async () => ({
      contents: [{ uri, mimeType: 'application/json', text: await readResource(uri, parts) }],
    })),
  );
  server.setRequestHandler(ListPromptsRequestSchema, async () => ({ prompts: [GUIDE_PROMPT] }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) =>
    asMcpErrors(onError, async () => guidePrompt(params.name, params.arguments?.namespace)),
  );
  return server;
}

/** A fault that the SDK tells of, by its kind alone: its text repeats what the client sent, and the log must not. */
function protocolFault(error: Error): Error {
  if (PalimpsestError.isInstance(error)) return error;
  const code = 'code' in error ? ` (${String(error.code)})` : '';
  return new Error(`The protocol met a fault: ${error.name}${code}.`);
}

/** Only answers of clients to questions of servers are validated by it, and this server asks none. */
const NO_VALIDATOR: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'This server asks nothing.' }),
};

let published: Tool[] | undefined;

/** Made once: the schemas are constants. */
function publishedTools(): Tool[] {
  published ??= [...CALLABLE_TOOLS.values()].map(({ definition }) => ({
    name: definition.name,
    title: definition.title,
    description: definition.description,
    inputSchema: toolJsonSchema(definition.input),
    outputSchema: toolJsonSchema(definition.output),
    annotations: {
      title: definition.title,
      readOnlyHint: definition.isReadOnly,
      destructiveHint: definition.isDestructive,
      idempotentHint: definition.isIdempotent,
      openWorldHint: false,
    },
  }));
  return published;
}

function toolNamed(name: string): CallableTool {
  const tool = CALLABLE_TOOLS.get(name);
  if (tool !== undefined) return tool;
  const known = [...CALLABLE_TOOLS.keys()].join(', ');
  throw new McpError(ErrorCode.InvalidParams, `There is no tool ${excerpt(name)}. There are: ${known}.`);
}

/** A refusal is an answer too: the model reads it and can mend its call. */
async function callTool(
  tool: CallableTool,
  args: unknown,
  parts: ToolCallParts,
  onError: (error: unknown) => void,
): Promise<CallToolResult> {
  try {
    const answer = await tool.call(args, parts);
    return { content: [{ type: 'text', text: jsonText(answer) }], structuredContent: answer };
  } catch (error) {
    const shown = shownError(error, onError);
    return { content: [{ type: 'text', text: jsonText(toWireError(shown)) }], isError: true };
  }
}

function shownError(error: unknown, onError: (error: unknown) => void): PalimpsestError {
  if (PalimpsestError.isInstance(error)) {
    if (ERROR_CODES[error.code].party !== 'caller') onError(error);
    return error;
  }
  onError(error);
  return new PalimpsestError(
    'internal',
    'Something went wrong in the memory server. Its log has the cause.',
    {
      cause: error,
    },
  );
}

/** Where MCP has no answer that says no, a refusal is an error of the protocol. */
async function asMcpErrors<T>(onError: (error: unknown) => void, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof McpError) throw error;
    const shown = shownError(error, onError);
    throw new McpError(rpcCodeOf(shown), shown.message, toWireError(shown).error);
  }
}

function rpcCodeOf({ code }: PalimpsestError): number {
  if (code === 'not_found') return RESOURCE_NOT_FOUND;
  return ERROR_CODES[code].party === 'caller' ? ErrorCode.InvalidParams : ErrorCode.InternalError;
}

function guidePrompt(name: string, namespace: string | undefined) {
  if (name !== GUIDE_PROMPT.name) {
    throw new McpError(
      ErrorCode.InvalidParams,
      `There is no prompt ${excerpt(name)}. There is: ${GUIDE_PROMPT.name}.`,
    );
  }
  const place = namespace === undefined ? undefined : parseNamespacePath(namespace, 'namespace');
  return {
    description: GUIDE_PROMPT.description,
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text: guideText(place) } }],
  };
}
