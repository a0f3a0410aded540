import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { type OpenedMemoryService, openMemoryService } from '../../src/app.ts';
import { KEY_SCOPES } from '../../src/core/governance.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { buildHttpApp } from '../../src/http/app.ts';
import { createLogger } from '../../src/http/logger.ts';
import { requireLocalName } from '../../src/http/loopback.ts';
import { serveHttp } from '../../src/http/serve-http.ts';
import type { Identify } from '../../src/http/who-asks.ts';
import { createMcpHandler } from '../../src/mcp/http-handler.ts';
import { LOCAL_IDENTITY } from '../../src/service/local-operator.ts';

/** A client of MCP that has asked for the tools, so that it checks each answer against its published schema. */
export interface TestMcpClient {
  readonly client: Client;
  readonly tools: readonly Tool[];
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
  /** The structured answer; the test fails where the call was refused. */
  answer(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** The refusal's error; the test fails where the call was answered. */
  refusal(name: string, args?: Record<string, unknown>): Promise<{ code: string; message: string }>;
}

/** A server on a real port whose askers are named by a header: `x-test-user`, else the operator. */
export interface TestMcp {
  readonly url: string;
  readonly opened: OpenedMemoryService;
  logged(): string;
  connect(headers?: Record<string, string>): Promise<TestMcpClient>;
  close(): Promise<void>;
}

export async function openTestMcp(provider?: EmbeddingProvider): Promise<TestMcp> {
  const lines: string[] = [];
  const opened = await openMemoryService({ location: { inMemory: true }, embedding: provider ?? {} });
  const { service, governance, reembed, tokenCounter: counter } = opened;
  const logger = createLogger('trace', { write: (line) => void lines.push(line) });
  const app = buildHttpApp({
    service,
    governance,
    reembed,
    logger,
    version: '0.0.0-test',
    identify,
    mcp: createMcpHandler({
      service,
      governance,
      counter,
      version: '0.0.0-test',
      onError: (error) => logger.warn({ err: error }, 'MCP'),
    }),
  });
  const server = await serveHttp(app, { host: '127.0.0.1', port: 0, drainMs: 100 });
  const clients: Client[] = [];
  return {
    url: server.url,
    opened,
    logged: () => lines.join(''),
    async connect(headers = {}) {
      const client = new Client({ name: 'test', version: '1' });
      clients.push(client);
      await client.connect(
        new StreamableHTTPClientTransport(new URL('/mcp', server.url), { requestInit: { headers } }),
      );
      return testClient(client);
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      await server.close();
      await opened.close();
    },
  };
}

const identify: Identify = ({ headers }) => {
  requireLocalName(headers.host);
  const user = headers['x-test-user'];
  if (typeof user !== 'string') return LOCAL_IDENTITY;
  const principal = { tenantId: 'default', userId: user, isAdmin: false, isTenantWide: false };
  return { ...LOCAL_IDENTITY, principal, scopes: KEY_SCOPES.filter((scope) => scope !== 'admin') };
};

/** Asks a connected client for its tools. */
export async function testClient(client: Client): Promise<TestMcpClient> {
  const { tools } = await client.listTools();
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    (await client.callTool({ name, arguments: args })) as CallToolResult;
  return {
    client,
    tools,
    call,
    async answer(name, args) {
      const result = await call(name, args);
      if (result.isError === true) throw new Error(`${name} was refused: ${textOf(result)}`);
      return result.structuredContent ?? {};
    },
    async refusal(name, args) {
      const result = await call(name, args);
      if (result.isError !== true) throw new Error(`${name} was not refused: ${textOf(result)}`);
      return (JSON.parse(textOf(result)) as { error: { code: string; message: string } }).error;
    },
  };
}

/** The text of an answer, which is its only content. */
export function textOf({ content }: CallToolResult): string {
  const [part] = content;
  if (content.length !== 1 || part?.type !== 'text') throw new Error('An answer is one text.');
  return part.text;
}
