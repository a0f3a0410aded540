import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { TokenCounter } from '../core/ports.ts';
import type { RequestContext } from '../service/request-context.ts';
import { createLocalBackend, type LocalServices } from './local-backend.ts';
import { createMcpServer } from './server.ts';

export interface McpHandlerParts extends LocalServices {
  readonly counter: () => Promise<TokenCounter>;
  readonly version: string;
  readonly onError: (error: unknown) => void;
}

/** Answers one HTTP request of MCP whose asker is known and whose body is read. */
export type McpHandler = (request: Request, body: unknown, context: RequestContext) => Promise<Response>;

/**
 * MCP over streamable HTTP without sessions: each request has a server of its own, which is gone with its answer.
 * The memory has nothing to say unasked, so that there is no stream to keep; sessions would have to be bounded,
 * and would tie a client to one of several servers.
 */
export function createMcpHandler({ service, governance, ...parts }: McpHandlerParts): McpHandler {
  return async (request, body, context) => {
    const backend = createLocalBackend({ service, governance }, context);
    const server = createMcpServer({ ...parts, backend });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    try {
      await server.connect(transport);
      return await transport.handleRequest(request, { parsedBody: body });
    } finally {
      await server.close();
    }
  };
}
