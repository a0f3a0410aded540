import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PalimpsestError } from '../../src/core/errors.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';
import { createOllamaProvider } from '../../src/embedding/remote/ollama.ts';
import { createOpenAiProvider, type OpenAiOptions } from '../../src/embedding/remote/openai.ts';
import type { RemoteOptions, RemoteParts } from '../../src/embedding/remote/remote-options.ts';
import {
  base64Of,
  type EmbeddingServer,
  startEmbeddingServer,
  type VectorSource,
} from '../helpers/embedding-server.ts';
import { adaMissing, adaTexts, minilmVectors } from '../helpers/real-vectors.ts';
import { describeOrSkip } from '../helpers/skip.ts';

let vectorOf: VectorSource;
let server: EmbeddingServer;
beforeAll(async () => {
  vectorOf = await minilmVectors();
});
beforeEach(async () => {
  server = await startEmbeddingServer({ vectorOf });
});
afterEach(() => server.close());

/** Short enough that no test waits. */
const QUICK = { backoffMs: 1, maxBackoffMs: 5 };

type Make = (options?: Partial<RemoteOptions & OpenAiOptions>, parts?: RemoteParts) => EmbeddingProvider;

const WIRES: readonly (readonly [name: string, make: Make])[] = [
  [
    'openai',
    (options, parts) =>
      createOpenAiProvider(
        { baseUrl: server.openAiUrl, model: 'my-model', dimensions: 384, calls: QUICK, ...options },
        parts,
      ),
  ],
  [
    'ollama',
    (options, parts) =>
      createOllamaProvider(
        { baseUrl: server.ollamaUrl, model: 'my-model', dimensions: 384, calls: QUICK, ...options },
        parts,
      ),
  ],
];

async function failureOf(promise: Promise<unknown>): Promise<PalimpsestError> {
  const error: unknown = await promise.then(
    () => 'no error',
    (reason: unknown) => reason,
  );
  if (PalimpsestError.isInstance(error)) return error;
  throw new Error(`Expected a PalimpsestError, got ${inspect(error)}`);
}

function cosine(left: ArrayLike<number>, right: ArrayLike<number>): number {
  return Array.from(left).reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
}

const TEXTS = [
  'The kettle whistles.',
  'A train leaves at noon.',
  'Snow fell on the harbour.',
  'Bread rises slowly.',
];

describe.each(WIRES)('a provider behind HTTP, %s', (name, make) => {
  test('gives each text its own vector, in order, whatever the order of the answer', async () => {
    const provider = make();
    const vectors = await provider.embed(TEXTS, 'document');
    for (const [item, text] of TEXTS.entries()) {
      expect(vectors[item]).toHaveLength(384);
      expect(cosine(vectors[item] ?? [], await vectorOf(text))).toBeCloseTo(1, 5);
    }
    expect(provider.modelId).toBe(`${name}/my-model/384`);
    expect(server.requests).toHaveLength(1);
  });

  test('puts the model and its texts into the request, and no key where none is configured', async () => {
    await make().embed(['tea'], 'query');
    expect(server.requests[0]?.body).toMatchObject({ model: 'my-model', input: ['tea'] });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('asks nothing for no text and for blank ones, which services refuse', async () => {
    expect(await make().embed([], 'document')).toEqual([]);
    const [blank, tea, spaces] = await make().embed(['', 'tea', ' \n'], 'document');
    expect([blank, spaces]).toEqual([null, null]);
    expect(tea).toHaveLength(384);
    expect(server.requests.map(({ input }) => input)).toEqual([['tea']]);
  });

  test('sends many texts in several requests, no larger and no more at once than configured', async () => {
    const provider = make({ batchSize: 3, calls: { ...QUICK, concurrency: 2 } });
    const texts = Array.from({ length: 10 }, (_, index) => `${TEXTS[index % 4]} ${index}`);
    const vectors = await provider.embed(texts, 'document');
    expect(server.requests.map(({ input }) => input.length).sort()).toEqual([1, 3, 3, 3]);
    expect(server.requests.flatMap(({ input }) => input).sort()).toEqual([...texts].sort());
    expect(server.mostAtOnce()).toBeLessThanOrEqual(2);
    expect(cosine(vectors[9] ?? [], await vectorOf(texts[9] ?? ''))).toBeCloseTo(1, 5);
  });

  test('counts tokens into the size of a request', async () => {
    // 30 bytes are taken as 10 tokens, so that two texts fit 25 tokens and a third does not.
    const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(30));
    await make({ batchTokens: 25 }).embed(texts, 'document');
    expect(server.requests.map(({ input }) => input.length).sort()).toEqual([1, 2]);
  });

  test('puts the prefixes of the purpose before texts, and names another model for them', async () => {
    const provider = make({ prefixes: { document: 'passage: ', query: 'query: ' } });
    await provider.embed(['tea'], 'document');
    await provider.embed(['tea'], 'query');
    expect(server.requests.map(({ input }) => input)).toEqual([['passage: tea'], ['query: tea']]);
    expect(provider.modelId).toMatch(/^\w+\/my-model\/384\+[0-9a-f]{8}$/);
  });

  test('cuts a text that is too long, gives the mean of its parts, and says so', async () => {
    const partials: unknown[] = [];
    // The estimate takes "word" for ceil(4 / 3) = 2 tokens: eight words fit 16.
    const text = Array.from({ length: 12 }, () => 'word').join(' ');
    const provider = make({ maxTokens: 16 });
    const [short, long] = await provider.embed(['tea', text], 'document', {
      onPartial: (item, coverage) => partials.push([item, coverage]),
    });
    const parts = [text.slice(0, 39), text.slice(39)];
    expect(server.requests[0]?.input).toEqual(['tea', ...parts]);
    expect(partials).toEqual([[1, 'chunked']]);
    // Eight words of two tokens, then four: weights 16 and 8.
    const [first = [], second = []] = await Promise.all(parts.map(vectorOf));
    const mean = first.map((value, index) => 16 * value + 8 * (second[index] ?? 0));
    expect(cosine(long ?? [], mean) / Math.hypot(...mean)).toBeCloseTo(1, 5);
    expect(cosine(short ?? [], await vectorOf('tea'))).toBeCloseTo(1, 5);
  });

  test('truncates where that is configured, and says so', async () => {
    const partials: unknown[] = [];
    await make({ maxTokens: 16, longText: 'truncate' }).embed(['word '.repeat(12)], 'document', {
      onPartial: (item, coverage) => partials.push([item, coverage]),
    });
    expect(server.requests[0]?.input).toEqual(['word word word word word word word word']);
    expect(partials).toEqual([[0, 'truncated']]);
  });

  test('halves a text that only the service finds too long, and leaves its neighbours whole', async () => {
    await server.close();
    server = await startEmbeddingServer({ vectorOf, maxLength: 40 });
    const partials: unknown[] = [];
    const long = 'The museum keeps letters. The gallery keeps maps of the sea.';
    const [short, halved] = await make().embed(['tea', long], 'document', {
      onPartial: (item, coverage) => partials.push([item, coverage]),
    });
    expect(server.requests.map(({ input }) => input)).toEqual([
      ['tea', long],
      ['tea'],
      [long],
      ['The museum keeps letters. The'],
      [' gallery keeps maps of the sea.'],
    ]);
    expect(partials).toEqual([[1, 'chunked']]);
    expect(cosine(short ?? [], await vectorOf('tea'))).toBeCloseTo(1, 5);
    expect(cosine(halved ?? [], await vectorOf(long))).toBeGreaterThan(0.7);
  });

  test('gives a text up that stays too long however often it is halved', async () => {
    server.always({ kind: 'status', status: 400, text: 'the input length exceeds the context length' });
    const error = await failureOf(make().embed(['one two three four'], 'document'));
    expect(error).toMatchObject({ code: 'embedding_failed', failure: 'too_long' });
    expect(server.requests.length).toBeLessThanOrEqual(31);
  });
});

describe.each(WIRES)('answers that can not be used, %s', (_, make) => {
  const NAN_VECTOR = base64Of([Number.NaN, ...Array.from({ length: 383 }, () => 1)]);

  test.each([
    ['fewer vectors than texts', (all: readonly unknown[]) => all.slice(1), /1 vectors? for 2 texts/],
    ['more vectors than texts', (all: readonly unknown[]) => [...all, all[0]], /3 vectors|text 2 of 2/],
    [
      'another length',
      (all: readonly (readonly number[])[]) => all.map((one) => one.slice(1)),
      /383 dimensions/,
    ],
    ['not a number', (all: readonly unknown[]) => [all[0], NAN_VECTOR], /NaN/],
    [
      'null for a number',
      (all: readonly (readonly number[])[]) => [all[0], [null, ...(all[1] ?? []).slice(1)]],
      /null/,
    ],
    ['only zeros', (all: readonly (readonly number[])[]) => all.map((one) => one.map(() => 0)), /zeros/],
    ['text for a vector', () => ['not base64!', 'AAA'], /base64/],
  ])('%s: the whole call is refused, and not asked again', async (_what, change, message) => {
    server.next({ kind: 'change', change });
    const error = await failureOf(make().embed(['tea', 'coffee'], 'document'));
    expect(error.code).toBe('embedding_failed');
    expect(error.message).toMatch(message);
    expect(server.requests).toHaveLength(1);
  });

  test('an answer of another kind of service says what was looked for', async () => {
    server.next({ kind: 'body', body: '{"result": "hello"}' });
    const error = await failureOf(make().embed(['tea'], 'document'));
    expect(error.message).toMatch(/sent no list "(data|embeddings)"/);
  });

  test.each([
    ['a page instead of JSON', { kind: 'body', body: '<html>maintenance</html>' }],
    ['an answer cut short', { kind: 'cut_short' }],
    ['an answer that breaks off', { kind: 'break_off' }],
    ['a dropped connection', { kind: 'drop' }],
    ['500', { kind: 'status', status: 500 }],
    ['503', { kind: 'status', status: 503 }],
    ['529', { kind: 'status', status: 529 }],
  ] as const)('%s is asked again, and the second answer counts', async (_what, behaviour) => {
    server.next(behaviour);
    const [vector] = await make().embed(['tea'], 'document');
    expect(vector).toHaveLength(384);
    expect(server.requests).toHaveLength(2);
  });

  test('a service that hangs is given up in time and asked again', async () => {
    server.next({ kind: 'hang' });
    const [vector] = await make({ calls: { ...QUICK, timeoutMs: 100 } }).embed(['tea'], 'document');
    expect(vector).toHaveLength(384);
    expect(server.requests).toHaveLength(2);
  });

  test('what never answers is an outage, with what to do, after the configured attempts', async () => {
    server.always({ kind: 'status', status: 502, text: 'bad gateway' });
    const error = await failureOf(make({ calls: { ...QUICK, maxRetries: 2 } }).embed(['tea'], 'query'));
    expect(error).toMatchObject({ code: 'embedding_failed', failure: 'server_error' });
    expect(error.message).toContain('answered 502: "bad gateway"');
    expect(server.requests).toHaveLength(3);
  });

  test('a service that is not there says so', async () => {
    const provider = make({ calls: { ...QUICK, maxRetries: 0 } });
    await server.close();
    const error = await failureOf(provider.embed(['tea'], 'query'));
    expect(error).toMatchObject({ failure: 'unreachable' });
    expect(error.message).toContain('ECONNREFUSED');
  });

  test('a 429 is waited out for as long as the service asks', async () => {
    server.next({ kind: 'status', status: 429, headers: { 'retry-after': '0.15' } });
    await make().embed(['tea'], 'document');
    const [first, second] = server.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(145);
  });

  test('a 429 that asks for more patience than there is fails at once, and says when to come again', async () => {
    server.always({ kind: 'status', status: 429, headers: { 'retry-after': '120' } });
    const provider = make();
    const error = await failureOf(provider.embed(['tea'], 'query'));
    expect(error).toMatchObject({ failure: 'rate_limited', retryAfterSeconds: 120 });
    // The pause holds for every caller, so that many of them do not each ask again.
    const others = await Promise.all(TEXTS.map((text) => failureOf(provider.embed([text], 'query'))));
    expect(others.map(({ message }) => message)).toEqual(
      others.map(() => expect.stringMatching(/not asked again for 1(20|19\.\d) s/)),
    );
    expect(server.requests).toHaveLength(1);
  });
});

describe.each(WIRES)('calls that no retry mends, %s', (_, make) => {
  test.each([400, 401, 403, 404, 409, 422])('%d is never asked again', async (status) => {
    server.always({ kind: 'status', status });
    const error = await failureOf(make().embed(['tea'], 'document'));
    expect(error.code).toBe('embedding_failed');
    expect(error.message).toContain(`answered ${status}`);
    expect(server.requests).toHaveLength(1);
  });

  test('404 says how to get the model', async () => {
    server.always({ kind: 'status', status: 404, text: 'model "my-model" not found' });
    const error = await failureOf(make().embed(['tea'], 'document'));
    expect(JSON.stringify(error.details)).toMatch(/ollama pull my-model|has the model my-model/);
  });

  test('a redirect is not followed: nobody said that texts may go there', async () => {
    server.always({ kind: 'status', status: 302, headers: { location: `${server.ollamaUrl}/elsewhere` } });
    const error = await failureOf(make().embed(['tea'], 'document'));
    expect(error.message).toContain('answered 302');
    expect(server.requests).toHaveLength(1);
  });

  test('a refused key stops the calls: a thousand operations make no storm', async () => {
    server.always({ kind: 'status', status: 401 });
    const provider = make();
    const errors: PalimpsestError[] = [];
    for (let operation = 0; operation < 1_000; operation += 1) {
      errors.push(await failureOf(provider.embed([`text ${operation}`], 'document')));
    }
    expect(server.requests).toHaveLength(1);
    expect(errors.at(-1)).toMatchObject({ failure: 'credentials' });
    expect(errors.at(-1)?.message).toMatch(/answered 401.*not asked again/);
  });

  test('a service that is down is left alone after five failures, and probed by one call', async () => {
    const events: string[] = [];
    const provider = make(
      { calls: { ...QUICK, maxRetries: 0, breakerThreshold: 5, breakerOpenMs: 3_000 } },
      { observe: ({ kind }) => events.push(kind) },
    );
    server.always({ kind: 'status', status: 500 });
    for (let call = 0; call < 20; call += 1) await failureOf(provider.embed(['tea'], 'query'));
    expect(server.requests).toHaveLength(5);
    server.always({ kind: 'answer' });
    await new Promise((resolve) => setTimeout(resolve, 3_100));
    const answers = await Promise.allSettled(TEXTS.map((text) => provider.embed([text], 'query')));
    // One probes; the others don't wait for it, they fail at once.
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await provider.embed(['tea'], 'query')).toHaveLength(1);
    expect(events.filter((kind) => kind.startsWith('circuit'))).toEqual(['circuit_open', 'circuit_closed']);
  });
});

describe.each(WIRES)('calls that are given up, %s', (_, make) => {
  test('the caller gets the reason of the signal, at once, also while a retry is waited for', async () => {
    server.always({ kind: 'status', status: 500 });
    const provider = make({ calls: { ...QUICK, backoffMs: 30_000, maxBackoffMs: 30_000 } });
    const aborter = new AbortController();
    const call = provider.embed(['tea'], 'document', { signal: aborter.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    aborter.abort(new Error('the request was cancelled'));
    await expect(call).rejects.toThrow('the request was cancelled');
  });

  test('when one request of a call fails, those that wait for their turn are not sent', async () => {
    server.next({ kind: 'status', status: 400 });
    const provider = make({ batchSize: 1, calls: { ...QUICK, concurrency: 1 } });
    await failureOf(provider.embed(TEXTS, 'document'));
    // A call of its own comes after whatever was still queued.
    await provider.embed(['tea'], 'document');
    expect(server.requests.map(({ input }) => input)).toEqual([[TEXTS[0]], ['tea']]);
  });

  test('one that is aborted already asks nothing', async () => {
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(make().embed(['tea'], 'document', { signal })).rejects.toThrow('too late');
    expect(server.requests).toHaveLength(0);
  });

  test('a closed provider rejects what is under way and what comes after', async () => {
    server.always({ kind: 'hang' });
    const provider = make();
    const call = failureOf(provider.embed(['tea'], 'document'));
    await expect.poll(() => server.requests.length).toBe(1);
    await provider.close?.();
    expect((await call).message).toMatch(/was closed/);
    expect((await failureOf(provider.embed(['tea'], 'query'))).message).toMatch(/was closed/);
  });
});

describe.each(WIRES)('keys, %s', (_, make) => {
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-keys-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const KEY = 'sk-very-secret-0123456789';

  test('come from the environment or a file, and go into the header alone', async () => {
    const file = join(folder, 'key');
    writeFileSync(file, `${KEY}\n`);
    await make({ apiKey: { env: 'MY_KEY' } }, { environment: { MY_KEY: KEY } }).embed(['tea'], 'query');
    await make({ apiKey: { file } }).embed(['tea'], 'query');
    for (const { headers, body } of server.requests) {
      expect(headers.authorization).toBe(`Bearer ${KEY}`);
      expect(JSON.stringify(body)).not.toContain('secret');
    }
  });

  test('are in no error and in nothing that can be printed, even where the service repeats them', async () => {
    await server.close();
    server = await startEmbeddingServer({ vectorOf, key: 'another' });
    const seen: unknown[] = [];
    const provider = make(
      { apiKey: { env: 'MY_KEY' } },
      { environment: { MY_KEY: KEY }, observe: (event) => seen.push(event) },
    );
    seen.push(provider, await failureOf(provider.embed(['tea'], 'query')));
    server.always({ kind: 'status', status: 400, text: `${KEY} asked with Bearer ${KEY}` });
    await server.close();
    server = await startEmbeddingServer({ vectorOf });
    server.always({ kind: 'status', status: 400, text: `${KEY} asked with Bearer ${KEY}` });
    const refused = make({ apiKey: { env: 'MY_KEY' } }, { environment: { MY_KEY: KEY } });
    seen.push(await failureOf(refused.embed(['tea'], 'query')));
    const printed = inspect(seen, { depth: 20, showHidden: true }) + JSON.stringify(seen);
    expect(printed).toContain('answered 400');
    expect(printed).not.toContain('very-secret');
  });

  test('are in no error in part either', async () => {
    server.always({ kind: 'status', status: 403, text: 'The key abcd********5678 may not do this' });
    const environment = { MY_KEY: 'abcd1234abcd5678' };
    const error = await failureOf(
      make({ apiKey: { env: 'MY_KEY' } }, { environment }).embed(['tea'], 'query'),
    );
    expect(error.message).toMatch(/answered 403/);
    expect(inspect(error)).not.toMatch(/abcd|5678/);
  });

  test('that are missing are told at the start', () => {
    expect(() => make({ apiKey: { env: 'NO_SUCH_KEY' } })).toThrow(/NO_SUCH_KEY/);
  });
});

describe('what only the OpenAI format has', () => {
  const make = WIRES[0]?.[1] ?? (() => createOpenAiProvider({ model: '' }));

  test('base64 numbers are asked for where configured, and understood (CASES D11)', async () => {
    const [vector] = await make({ encodingFormat: 'base64' }).embed(['tea'], 'query');
    expect(server.requests[0]?.body.encoding_format).toBe('base64');
    expect(cosine(vector ?? [], await vectorOf('tea'))).toBeCloseTo(1, 5);
  });

  test('base64 numbers are understood where nobody asked for them', async () => {
    server.next({ kind: 'change', change: (vectors) => vectors.map((vector) => base64Of(vector)) });
    const [vector] = await make().embed(['tea'], 'query');
    expect(server.requests[0]?.body.encoding_format).toBe('float');
    expect(cosine(vector ?? [], await vectorOf('tea'))).toBeCloseTo(1, 5);
  });

  test('Azure gets its key bare, under its own header, and keeps its version in the URL', async () => {
    const baseUrl = `${server.openAiUrl}/deployments/mine?api-version=2024-10-21`;
    await make(
      { baseUrl, apiKey: { env: 'K' }, apiKeyHeader: 'api-key' },
      { environment: { K: 'abc' } },
    ).embed(['tea'], 'query');
    expect(server.requests[0]?.path).toBe('/v1/deployments/mine/embeddings?api-version=2024-10-21');
    expect(server.requests[0]?.headers).toMatchObject({ 'api-key': 'abc' });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('a model that can shorten its vectors is asked to, and only then', async () => {
    server.always({ kind: 'change', change: (vectors) => vectors.map((vector) => vector.slice(0, 256)) });
    const small = make({ model: 'text-embedding-3-small', dimensions: 256 });
    expect((await small.embed(['tea'], 'query'))[0]).toHaveLength(256);
    await make({ dimensions: 256 }).embed(['tea'], 'query');
    expect(server.requests.map(({ body }) => body.dimensions)).toEqual([256, undefined]);
  });

  test('a quota that is used up is not waited for', async () => {
    server.always({
      kind: 'status',
      status: 429,
      text: 'insufficient_quota: You exceeded your current quota',
    });
    expect(await failureOf(make().embed(['tea'], 'query'))).toMatchObject({ failure: 'rate_limited' });
    expect(server.requests).toHaveLength(1);
  });

  test('text that spells a special token is a text', async () => {
    const text = '<|endoftext|> '.repeat(2_000);
    const wide = await startEmbeddingServer({ vectorOf: () => Array.from({ length: 1536 }, () => 1) });
    const provider = createOpenAiProvider({ baseUrl: wide.openAiUrl, model: 'text-embedding-3-small' });
    await provider.embed([text], 'document');
    expect(wide.requests[0]?.input.length).toBeGreaterThan(1);
    expect(wide.requests[0]?.input.join('')).toBe(text);
    await wide.close();
  });

  test.each([
    [{ baseUrl: 'ftp://example.org' }, /baseUrl/],
    [{ baseUrl: 'nonsense' }, /baseUrl/],
    [{ baseUrl: 'http://user:hidden@localhost/v1' }, /baseUrl/],
    [{ model: '' }, /model/],
    [{ dimensions: undefined }, /dimensions of the embedding model "my-model" are not known/],
    [{ dimensions: 0 }, /dimensions/],
    [{ maxTokens: 1 }, /maxTokens/],
    [{ batchSize: 0 }, /batchSize/],
    [{ calls: { concurrency: 0 } }, /calls\.concurrency/],
    [{ calls: { maxRetries: -1 } }, /calls\.maxRetries/],
    [{ calls: { timeoutMs: Number.NaN } }, /calls\.timeoutMs/],
  ])('%j is refused at the start', (options, message) => {
    expect(() => make(options)).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    expect(() => make(options)).toThrow(message);
    expect(() => make(options)).not.toThrow(/hidden/);
  });

  test('no retry is a value', async () => {
    server.always({ kind: 'status', status: 500 });
    await failureOf(make({ calls: { ...QUICK, maxRetries: 0 } }).embed(['tea'], 'query'));
    expect(server.requests).toHaveLength(1);
  });
});

describeOrSkip(adaMissing, 'real vectors of text-embedding-ada-002', () => {
  test('come through as they were published, 1,536 numbers each, in both forms', async () => {
    const texts = adaTexts();
    const ada = await startEmbeddingServer({ vectorOf: (text) => texts.get(text) ?? [] });
    for (const encodingFormat of ['float', 'base64'] as const) {
      const provider = createOpenAiProvider({
        baseUrl: ada.openAiUrl,
        model: 'text-embedding-ada-002',
        encodingFormat,
      });
      const vectors = await provider.embed([...texts.keys()], 'document');
      for (const [item, published] of [...texts.values()].entries()) {
        expect(cosine(vectors[item] ?? [], published)).toBeCloseTo(1, 5);
      }
    }
    await ada.close();
  });
});
