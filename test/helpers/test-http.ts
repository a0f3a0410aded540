import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { type OpenedMemoryService, openMemoryService } from '../../src/app.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { buildHttpApp, type HttpAppOptions } from '../../src/http/app.ts';
import type { HttpApp } from '../../src/http/http-app.ts';
import { createLogger } from '../../src/http/log.ts';
import { LOCAL_IDENTITY } from '../../src/service/local-operator.ts';

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
  close(): Promise<void>;
}

export interface TestHttpOptions extends Partial<HttpAppOptions> {
  readonly provider?: EmbeddingProvider;
}

export async function openTestHttp(options: TestHttpOptions = {}): Promise<TestHttp> {
  const lines: string[] = [];
  const opened = await openMemoryService({
    location: { inMemory: true },
    embedding: options.provider ?? createHashingProvider(),
  });
  const app = buildHttpApp({
    service: opened.service,
    governance: opened.governance,
    identify: () => LOCAL_IDENTITY,
    logger: createLogger('trace', { write: (line) => void lines.push(line) }),
    version: '0.0.0-test',
    ...options,
  });
  const inject = (request: InjectOptions) => app.inject(request);
  return {
    app,
    opened,
    logged: () => lines.join(''),
    inject,
    post: (url, body) => inject({ method: 'POST', url, payload: JSON.stringify(body), headers: JSON_BODY }),
    get: (url) => inject({ method: 'GET', url }),
    close: async () => {
      await app.close();
      await opened.close();
    },
  };
}

export const JSON_BODY = { 'content-type': 'application/json' };
