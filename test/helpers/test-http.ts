import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { type OpenedMemoryService, openMemoryService } from '../../src/app.ts';
import type { KeyScope } from '../../src/core/governance.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { buildHttpApp, type HttpAppOptions } from '../../src/http/app.ts';
import type { HttpApp } from '../../src/http/http-app.ts';
import { createLogger } from '../../src/http/logger.ts';
import { createAuthenticator } from '../../src/identity/authenticator.ts';
import { createKeyCheck } from '../../src/identity/key-check.ts';
import { LOCAL_IDENTITY, LOCAL_OPERATOR } from '../../src/service/local-operator.ts';

/** The HTTP API in this process, on a store in memory. */
export interface TestHttp {
  readonly app: HttpApp;
  /** The services behind it. */
  readonly opened: OpenedMemoryService;
  /** Everything the server has logged. */
  logged(): string;
  inject(options: InjectOptions): Promise<LightMyRequestResponse>;
  post(url: string, body: unknown): Promise<LightMyRequestResponse>;
  get(url: string): Promise<LightMyRequestResponse>;
  /** Makes a key of a user and gives its secret. */
  makeKey(userId: string, key?: TestKey): Promise<string>;
  close(): Promise<void>;
}

export interface TestHttpOptions extends Partial<HttpAppOptions> {
  readonly provider?: EmbeddingProvider;
  /**
   * Whether every request shows an API key, see `makeKey`; `optional`: who shows none is the local operator. Default:
   * everybody is.
   */
  readonly asksForKeys?: boolean | 'optional';
}

/** What a test wants of a key. Default: a user of the tenant `acme` who may do everything but govern. */
export interface TestKey {
  readonly scopes?: readonly KeyScope[];
  readonly tenantId?: string;
}

/** Everything but governing. */
const USER_SCOPES: readonly KeyScope[] = ['read', 'write', 'feedback'];

export async function openTestHttp(options: TestHttpOptions = {}): Promise<TestHttp> {
  const lines: string[] = [];
  const opened = await openMemoryService({
    location: { inMemory: true },
    embedding: options.provider ?? createHashingProvider(),
  });
  const authenticator = createAuthenticator({
    key: createKeyCheck({ keys: opened.keys, clock: Date.now, cacheMs: 0 }),
  });
  const { provider, asksForKeys = false, ...appOptions } = options;
  const app = buildHttpApp({
    service: opened.service,
    governance: opened.governance,
    reembed: opened.reembed,
    identify: ({ headers }) => {
      const isOperator =
        asksForKeys === false || (asksForKeys === 'optional' && headers.authorization === undefined);
      return isOperator ? LOCAL_IDENTITY : authenticator.authenticate(headers);
    },
    logger: createLogger('trace', { write: (line) => void lines.push(line) }),
    version: '0.0.0-test',
    telemetry: opened.telemetry,
    ...appOptions,
  });
  const inject = (request: InjectOptions) => app.inject(request);
  return {
    app,
    opened,
    logged: () => lines.join(''),
    inject,
    post: (url, body) => inject({ method: 'POST', url, payload: JSON.stringify(body), headers: JSON_BODY }),
    get: (url) => inject({ method: 'GET', url }),
    makeKey: async (userId, { scopes = USER_SCOPES, tenantId = 'acme' } = {}) => {
      const operator = {
        access: { ...LOCAL_OPERATOR, principal: { ...LOCAL_OPERATOR.principal, tenantId } },
      };
      const draft = { userId, name: `key of ${userId}`, scopes };
      return (await opened.governance.createKey(operator, draft)).secret;
    },
    close: async () => {
      await app.close();
      await opened.close();
    },
  };
}

export const JSON_BODY = { 'content-type': 'application/json' };
