import { z } from 'zod';
import { inCodeNames } from '../contract/code-names.ts';
import { errorOf } from '../contract/error-of.ts';
import { readJsonLines } from '../contract/json-lines.ts';
import { type QueryFields, queryString } from '../contract/list-url.ts';
import { parseContract } from '../contract/parse-contract.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../contract/request-headers.ts';
import type { RouteDefinition } from '../contract/routes/route.ts';
import { fromWire, type InCode, requestToWire } from '../contract/wire-form.ts';
import { excerpt, invalidInput, PalimpsestError } from '../core/errors.ts';

/** As much of `fetch` as the client needs. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly fetch: Fetch;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** How one request is made. */
export interface CallOptions {
  /** Gives the request up: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Makes repeating a write harmless: the same key and request give the same answer again. */
  readonly idempotencyKey?: string | undefined;
}

/** What is sent to a route, in wire form. */
export interface CallParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: QueryFields;
  readonly body?: unknown;
  /** Lines of a body that is no JSON. */
  readonly lines?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type AnswerOf<Route> = Route extends { readonly answer: infer Schema extends z.ZodType }
  ? InCode<Schema>
  : undefined;

/** Speaks HTTP by the routes' own definitions. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** The same with further headers. */
  with(headers: Readonly<Record<string, string>>): Transport {
    return new Transport({ ...this.#options, headers: { ...this.#options.headers, ...headers } });
  }

  /** Asks a route that answers one value. */
  async call<Route extends RouteDefinition>(
    route: Route,
    parts: CallParts,
    options: CallOptions = {},
  ): Promise<AnswerOf<Route>> {
    return inCodeNames(async () => {
      const signal = withTimeout(options.signal, this.#options.timeoutMs);
      const response = await this.#send(route, parts, { ...options, signal });
      if (route.answer === undefined) {
        await drained(response);
        return undefined as AnswerOf<Route>;
      }
      return fromWire(route.answer, await this.#json(response, signal)) as AnswerOf<Route>;
    });
  }

  /** Asks a route that answers lines, and reads them one by one. Leaving the loop gives the rest up. */
  async *lines<Route extends RouteDefinition>(
    route: Route,
    parts: CallParts,
    options: CallOptions = {},
  ): AsyncGenerator<AnswerOf<Route>> {
    const { answer } = route;
    if (answer === undefined) throw new Error('A route of lines has no schema for them.');
    const { signal } = options;
    const response = await inCodeNames(() => this.#send(route, parts, options));
    try {
      for await (const { value } of readJsonLines(bytesOf(response))) {
        yield fromWire(answer, value) as AnswerOf<Route>;
      }
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  async #send(route: RouteDefinition, parts: CallParts, options: CallOptions): Promise<Response> {
    const response = await this.#fetch(route, parts, options);
    if (response.ok) return response;
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    throw errorOf(response.status, await maybeJson(response), {
      retryAfterSeconds: Number.isInteger(retryAfter) ? retryAfter : undefined,
    });
  }

  async #fetch(route: RouteDefinition, parts: CallParts, options: CallOptions): Promise<Response> {
    const { apiKey, fetch, headers } = this.#options;
    const { signal, idempotencyKey } = options;
    const body = parts.lines ?? (parts.body === undefined ? undefined : JSON.stringify(parts.body));
    const url = this.#url(route, parts);
    try {
      return await fetch(url, {
        method: route.method,
        headers: {
          ...headers,
          ...parts.headers,
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
          ...(idempotencyKey === undefined ? {} : { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }),
          ...(body === undefined
            ? {}
            : { 'content-type': parts.lines === undefined ? 'application/json' : 'application/x-ndjson' }),
        },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  #url(route: RouteDefinition, { params = {}, query = {} }: CallParts): string {
    const { baseUrl } = this.#options;
    if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
      throw invalidInput(`baseUrl: ${excerpt(baseUrl)} is not the URL of a server.`, {
        path: 'baseUrl',
        got: excerpt(baseUrl),
        allowed: 'a URL such as http://127.0.0.1:7077',
      });
    }
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathSegment(params[name], name));
    return `${baseUrl.replace(/\/+$/, '')}${path}${queryString(query)}`;
  }

  async #json(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
    try {
      return await response.json();
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  /** What went wrong between here and the server. */
  #failure(error: unknown, signal: AbortSignal | undefined): unknown {
    const { baseUrl, timeoutMs } = this.#options;
    if (PalimpsestError.isInstance(error) && error.code !== 'invalid_input') return error;
    if (signal?.aborted === true) {
      const reason: unknown = signal.reason;
      if (!isTimeout(reason)) return reason;
      return unreachable(`${baseUrl} did not answer within ${timeoutMs} ms.`, reason);
    }
    return unreachable(`${baseUrl} can't be reached, or broke off.`, error);
  }
}

function pathSegment(value: unknown, name: string): string {
  // An empty segment would name another route, and so would a dot or two.
  if (typeof value === 'string' && !/^\.{0,2}$/.test(value) && !/\p{Surrogate}/u.test(value))
    return encodeURIComponent(value);
  throw invalidInput(`${name}: ${excerpt(value)} names nothing.`, {
    path: name,
    got: excerpt(value),
    allowed: 'a text that is not empty',
  });
}

function unreachable(message: string, cause: unknown): PalimpsestError {
  return new PalimpsestError('server_unreachable', message, { details: [{ path: 'baseUrl' }], cause });
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

function withTimeout(signal: AbortSignal | undefined, timeoutMs: number): AbortSignal | undefined {
  // 0 is a value: no time limit.
  if (timeoutMs === 0) return signal;
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

/** An answer nobody reads keeps its connection. */
async function drained(response: Response): Promise<void> {
  await response.body?.cancel();
}

async function maybeJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** Not `for await` over the stream itself: not every browser's streams can be iterated. */
async function* bytesOf(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

/** The checked wire form of a request's body. */
export async function bodyOf(schema: z.ZodType, input: unknown, what: string): Promise<unknown> {
  const wire = requestToWire(schema, input, what);
  await inCodeNames(() => parseContract(schema, wire));
  return wire;
}

/** The checked query string of a request. */
export async function queryOf(schema: z.ZodType, input: unknown, what: string): Promise<QueryFields> {
  const wire = requestToWire(schema, input, what);
  const fields = Object.fromEntries(
    Object.entries(z.record(z.string(), z.unknown()).parse(wire)).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(String) : String(value),
    ]),
  );
  await inCodeNames(() => parseContract(schema, fields));
  return fields;
}
