import { Transport } from '../client/transport.ts';
import { listQueryFields } from '../contract/list-url.ts';
import { writeSubjectHeaders } from '../contract/request-headers.ts';
import { ROUTES } from '../contract/routes/routes.ts';
import { MAX_PAGE_SIZE } from '../core/defaults.ts';
import type { RequestSubject } from '../service/request-context.ts';
import type { ToolBackend } from './tool-backend.ts';

export interface RemoteServer {
  /** Such as `http://127.0.0.1:7077`. */
  readonly url: string;
  /** An API key or a token; undefined for a server that asks for none. */
  readonly token?: string | undefined;
}

/** Milliseconds until a request is given up: a model waits no longer for a tool. */
const TIMEOUT_MS = 30_000;

/** The memory behind a server. Each request says that a tool makes it, and for whom. */
export function createRemoteBackend({ url, token }: RemoteServer, subject: RequestSubject): ToolBackend {
  const transport = new Transport({
    baseUrl: url,
    apiKey: token,
    fetch: (address, init) => globalThis.fetch(address, init),
    headers: writeSubjectHeaders({ subject, origin: 'tool_call' }),
    timeoutMs: TIMEOUT_MS,
  });
  return {
    recall: (body) => transport.call(ROUTES.searchMemories, { body }),
    remember: (body) => transport.call(ROUTES.createMemory, { body }),
    update: (id, body) => transport.call(ROUTES.updateMemory, { params: { id }, body }),
    supersede: (id, body) => transport.call(ROUTES.supersedeMemory, { params: { id }, body }),
    forget: (id) => transport.call(ROUTES.forgetMemory, { params: { id } }),
    feedback: (body) => transport.call(ROUTES.giveFeedback, { body }),
    list: (body) => transport.call(ROUTES.listMemories, { query: listQueryFields(body) }),
    get: (id) => transport.call(ROUTES.getMemory, { params: { id } }),
    namespaces: (after) =>
      transport.call(ROUTES.listNamespaces, { query: { limit: String(MAX_PAGE_SIZE), cursor: after } }),
  };
}
