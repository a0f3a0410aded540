import type { FastifyRequest, InjectOptions, LightMyRequestResponse } from 'fastify';
import { openMemoryService } from '../../src/app.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import type { Access } from '../../src/core/types.ts';
import { createHashingProvider } from '../../src/embedding/hashing.ts';
import { buildHttpApp } from '../../src/http/app.ts';
import type { HttpApp } from '../../src/http/http-app.ts';
import { createLogger } from '../../src/http/log.ts';
import { LOCAL_OPERATOR } from '../../src/service/local-operator.ts';

/** The HTTP API in this process, on a store in memory. */
export interface TestHttp {
  readonly app: HttpApp;
  /** Everything the server has logged. */
  logged(): string;
  inject(options: InjectOptions): Promise<LightMyRequestResponse>;
  post(url: string, body: unknown): Promise<LightMyRequestResponse>;
  get(url: string): Promise<LightMyRequestResponse>;
  close(): Promise<void>;
}

export interface TestHttpOptions {
  readonly provider?: EmbeddingProvider;
  readonly accessOf?: (request: FastifyRequest) => Access | Promise<Access>;
}

export async function openTestHttp(options: TestHttpOptions = {}): Promise<TestHttp> {
  const lines: string[] = [];
  const opened = await openMemoryService({
    location: { inMemory: true },
    embedding: options.provider ?? createHashingProvider(),
  });
  const app = buildHttpApp({
    service: opened.service,
    accessOf: options.accessOf ?? (() => LOCAL_OPERATOR),
    logger: createLogger('trace', { write: (line) => void lines.push(line) }),
  });
  const inject = (request: InjectOptions) => app.inject(request);
  return {
    app,
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
