import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Makes the vectors that the server answers. */
export type VectorSource = (text: string) => readonly number[] | Promise<readonly number[]>;

/** What the server does with one request. */
export type Behaviour =
  | { readonly kind: 'answer' }
  /** With `text` as the message of the error, in the form of the wire. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly text?: string;
    }
  /** Takes the request and says nothing. */
  | { readonly kind: 'hang' }
  /** Closes the connection without a word. */
  | { readonly kind: 'drop' }
  /** Sends half an answer, then closes the connection. */
  | { readonly kind: 'break_off' }
  /** Sends half an answer as if it were whole. */
  | { readonly kind: 'cut_short' }
  /** Answers as it should, with the vectors changed. */
  | {
      readonly kind: 'change';
      readonly change: (vectors: readonly (readonly number[])[]) => readonly unknown[];
    }
  /** Answers this, whatever was asked. */
  | { readonly kind: 'body'; readonly body: string };

export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
  /** The texts, whether sent as one or as a list. */
  readonly input: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface EmbeddingServer {
  /** Base URL of the OpenAI wire format. */
  readonly openAiUrl: string;
  /** Base URL of the Ollama wire format. */
  readonly ollamaUrl: string;
  /** Every request in the order it came, with those that got no answer. */
  readonly requests: RecordedRequest[];
  /** The most requests that were being answered at one time. */
  readonly mostAtOnce: () => number;
  /** What the next requests get, one each; then the behaviour of `always` again. */
  next(...behaviours: Behaviour[]): void;
  /** What requests get until this is called again. Default: an answer. */
  always(behaviour: Behaviour): void;
  close(): Promise<void>;
}

export interface EmbeddingServerOptions {
  readonly vectorOf: VectorSource;
  /** Milliseconds before each answer, default 0. */
  readonly delayMs?: number;
  /** Texts longer than this are refused, as services refuse what is beyond their context. Default: none are. */
  readonly maxLength?: number;
  /** Requests without it get a 401 that repeats what they sent, as some services do. Default: none is wanted. */
  readonly key?: string;
}

const ANSWER: Behaviour = { kind: 'answer' };

/** A service on loopback that speaks `POST /v1/embeddings` (OpenAI) and `POST /api/embed` (Ollama), and misbehaves on demand. */
export async function startEmbeddingServer(options: EmbeddingServerOptions): Promise<EmbeddingServer> {
  const requests: RecordedRequest[] = [];
  const coming: Behaviour[] = [];
  let usual = ANSWER;
  let atOnce = 0;
  let mostAtOnce = 0;

  const server = createServer(async (request, response) => {
    const body = parseObject(await textOf(request));
    const input = inputOf(body);
    requests.push({ path: request.url ?? '', headers: request.headers, body, input, at: Date.now() });
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    try {
      await behave(coming.shift() ?? usual, { request, response, body, input }, options);
    } finally {
      atOnce -= 1;
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    openAiUrl: `http://127.0.0.1:${port}/v1`,
    ollamaUrl: `http://127.0.0.1:${port}`,
    requests,
    mostAtOnce: () => mostAtOnce,
    next: (...behaviours) => void coming.push(...behaviours),
    always(behaviour) {
      usual = behaviour;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Readonly<Record<string, unknown>>;
  readonly input: readonly string[];
}

async function behave(
  behaviour: Behaviour,
  exchange: Exchange,
  options: EmbeddingServerOptions,
): Promise<void> {
  const { request, response } = exchange;
  await new Promise((resolve) => setTimeout(resolve, options.delayMs ?? 0));
  const sent = request.headers.authorization ?? request.headers['api-key'] ?? '';
  if (options.key !== undefined && sent !== `Bearer ${options.key}` && sent !== options.key) {
    return sendError(
      exchange,
      401,
      `Incorrect API key provided: ${String(sent)}. Find yours in the settings.`,
    );
  }
  switch (behaviour.kind) {
    case 'status':
      return sendError(exchange, behaviour.status, behaviour.text ?? 'as the test wants', behaviour.headers);
    case 'hang':
      return;
    case 'drop':
      return void request.socket.destroy();
    case 'body':
      return send(response, 200, behaviour.body);
    default:
      return answer(behaviour, exchange, options);
  }
}

async function answer(
  behaviour: Exclude<Behaviour, { kind: 'status' | 'hang' | 'drop' | 'body' }>,
  exchange: Exchange,
  { vectorOf, maxLength = Number.POSITIVE_INFINITY }: EmbeddingServerOptions,
): Promise<void> {
  const { response, input } = exchange;
  if (input.some((text) => text === '')) return sendError(exchange, 400, 'input cannot be an empty string');
  if (input.some((text) => text.length > maxLength)) {
    return sendError(exchange, 400, 'the input length exceeds the context length');
  }
  const vectors = await Promise.all(input.map(vectorOf));
  const changed = behaviour.kind === 'change' ? behaviour.change(vectors) : vectors;
  const text = JSON.stringify(
    isOllama(exchange) ? ollamaAnswer(exchange, changed) : openAiAnswer(exchange, changed),
  );
  if (behaviour.kind === 'cut_short') return send(response, 200, text.slice(0, text.length / 2));
  if (behaviour.kind !== 'break_off') return send(response, 200, text);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
  response.write(text.slice(0, text.length / 2), () => exchange.request.socket.destroy());
}

function isOllama({ request }: Exchange): boolean {
  return request.url === '/api/embed';
}

function ollamaAnswer({ body }: Exchange, vectors: readonly unknown[]) {
  return { model: body.model, embeddings: vectors, total_duration: 1, prompt_eval_count: 1 };
}

/** In reverse, as the format allows: each vector names its text. */
function openAiAnswer({ body, input }: Exchange, vectors: readonly unknown[]) {
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: body.encoding_format === 'base64' && Array.isArray(vector) ? base64Of(vector) : vector,
  }));
  return {
    object: 'list',
    model: body.model,
    data: data.reverse(),
    usage: { prompt_tokens: input.length, total_tokens: input.length },
  };
}

export function base64Of(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}

function sendError(
  exchange: Exchange,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  const body = isOllama(exchange) ? { error: message } : { error: { message, type: 'test', code: null } };
  send(exchange.response, status, JSON.stringify(body), headers);
}

function send(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function inputOf({ input }: Readonly<Record<string, unknown>>): readonly string[] {
  return Array.isArray(input) ? input.map(String) : [String(input)];
}
