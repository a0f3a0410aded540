import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { excerpt, PalimpsestError } from '../core/errors.ts';
import type { McpHandler } from './http-app.ts';
import { askerOf } from './who-asks.ts';

const PATH = '/mcp';
/** Headers of a request that MCP looks at. What says who asks has been read, and stays here. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id'];
/** JSON-RPC's code for a request that makes no sense. */
const INVALID_REQUEST = -32_600;

/**
 * MCP under the API's own authentication, limits and log. There are no sessions and no streams to open, so that
 * POST is all there is.
 */
export function mcpRoute(api: FastifyInstance, handle: McpHandler, corsOrigins: readonly string[]): void {
  api.route({
    method: 'POST',
    url: PATH,
    exposeHeadRoute: false,
    preParsing: async (request) => requireKnownOrigin(request, corsOrigins),
    handler: async (request, reply) => {
      if (Array.isArray(request.body)) return reply.code(400).send(NO_BATCHES);
      const response = await handle(toWebRequest(request), request.body, askerOf(request).context);
      return sendWebResponse(reply, response);
    },
  });
  api.route({
    method: ['GET', 'DELETE'],
    url: PATH,
    exposeHeadRoute: false,
    handler: async (_request, reply) => reply.code(405).header('allow', 'POST').send(NO_SESSIONS),
  });
}

const NO_SESSIONS = {
  jsonrpc: '2.0',
  error: { code: INVALID_REQUEST, message: 'This server keeps no sessions and no streams. Use POST.' },
  id: null,
};

/** A hundred calls in one request would be counted as one by the limit of requests. */
const NO_BATCHES = {
  jsonrpc: '2.0',
  error: {
    code: INVALID_REQUEST,
    message: 'This server takes one message in a request, and no batches. Send each by itself.',
  },
  id: null,
};

/**
 * Refuses pages of other origins. Where no credential is asked for, a page that a browser of this machine shows
 * would otherwise be its operator.
 *
 * @throws PalimpsestError `forbidden`
 */
function requireKnownOrigin({ headers }: FastifyRequest, corsOrigins: readonly string[]): void {
  const { origin, host = '' } = headers;
  if (origin === undefined || corsOrigins.includes(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw new PalimpsestError('forbidden', `Pages of ${excerpt(origin)} may not use this server.`, {
    details: [
      {
        path: 'origin',
        got: excerpt(origin),
        allowed: [...corsOrigins],
        hint: 'Set PALIMPSEST_CORS_ORIGINS.',
      },
    ],
  });
}

function toWebRequest(request: FastifyRequest): Request {
  const headers = new Headers();
  for (const name of HEADERS) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  // The body has been read, and is passed beside the request.
  return new Request(new URL(PATH, 'http://localhost'), { method: request.method, headers });
}

async function sendWebResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  reply.code(response.status);
  for (const [name, value] of response.headers) reply.header(name, value);
  return reply.send(await response.text());
}
