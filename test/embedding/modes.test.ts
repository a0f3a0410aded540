import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmbeddingEvent } from '../../src/embedding/events.ts';
import { createEmbeddingModes, type EmbeddingConfig } from '../../src/embedding/modes.ts';
import type { EmbeddingProviderConfig } from '../../src/embedding/provider-config.ts';
import {
  type EmbeddingServer,
  startEmbeddingServer,
  type VectorSource,
} from '../helpers/embedding-server.ts';
import { minilmVectors } from '../helpers/real-vectors.ts';

let vectorOf: VectorSource;
let server: EmbeddingServer;
let events: EmbeddingEvent[];
beforeAll(async () => {
  vectorOf = await minilmVectors();
});
beforeEach(async () => {
  server = await startEmbeddingServer({ vectorOf });
  events = [];
});
afterEach(() => server.close());

const CLOUD = 'openai/company-model/384';
const LOCAL = 'hashing-512-v1';
const DOCUMENTS = [{ content: 'The kettle whistles.' }, { content: 'Snow fell on the harbour.' }];

function cloud(options: Partial<EmbeddingProviderConfig> = {}): EmbeddingProviderConfig {
  return {
    provider: 'openai',
    baseUrl: server.openAiUrl,
    model: 'company-model',
    dimensions: 384,
    ...options,
    calls: { backoffMs: 1, maxBackoffMs: 2, ...options.calls },
  };
}

function open(config: EmbeddingConfig) {
  return createEmbeddingModes(config, { observe: (event) => events.push(event) });
}

/** For services that hang: the others have time to answer, however busy the machine is. */
const IMPATIENT = { queryTimeoutMs: 100, timeoutMs: 100 };

const kinds = () => events.map(({ kind }) => kind).filter((kind) => kind !== 'answered');

describe('the mode local', () => {
  test('is the default, with hashing, and keeps one model', async () => {
    const modes = open({});
    expect(modes).toMatchObject({
      mode: 'local',
      models: [{ modelId: LOCAL, dimensions: 512, role: 'primary' }],
    });
    const [document] = await modes.embedDocuments(DOCUMENTS);
    expect(document).toMatchObject({ embeddings: [{ modelId: LOCAL, coverage: 'whole' }], missing: [] });
    expect(await modes.embedQuery('kettle')).toMatchObject({ modelId: LOCAL, insteadOf: null });
  });
});

describe('the mode disabled', () => {
  test('has no model, embeds nothing and answers no query, without an error', async () => {
    const modes = open({ mode: 'disabled', cloud: cloud() });
    expect(modes).toMatchObject({ mode: 'disabled', models: [] });
    expect(await modes.embedDocuments(DOCUMENTS)).toEqual([
      { embeddings: [], missing: [] },
      { embeddings: [], missing: [] },
    ]);
    expect(await modes.embedQuery('kettle')).toBeNull();
    await expect(modes.embedUnder(LOCAL, DOCUMENTS)).rejects.toMatchObject({ code: 'conflict' });
    expect(await modes.check()).toEqual([]);
    await modes.close();
    expect(server.requests).toHaveLength(0);
  });
});

describe('the mode cloud', () => {
  test('keeps the service’s model alone, and an outage is an error, never an empty answer', async () => {
    const modes = open({ mode: 'cloud', cloud: cloud({ calls: { maxRetries: 1 } }) });
    expect(modes.models).toEqual([{ modelId: CLOUD, dimensions: 384, role: 'primary' }]);
    server.always({ kind: 'status', status: 500 });
    await expect(modes.embedDocuments(DOCUMENTS)).rejects.toMatchObject({ code: 'embedding_failed' });
    await expect(modes.embedQuery('kettle')).rejects.toMatchObject({ code: 'embedding_failed' });
    expect(kinds()).toEqual(['retry', 'failed', 'retry', 'failed']);
  });
});

describe('the mode hybrid', () => {
  const hybrid = (config: Partial<EmbeddingConfig> = {}) =>
    open({ mode: 'hybrid', cloud: cloud(), ...config });

  test('keeps documents under both models, and queries are answered by the first', async () => {
    const modes = hybrid();
    expect(modes.models).toEqual([
      { modelId: CLOUD, dimensions: 384, role: 'primary' },
      { modelId: LOCAL, dimensions: 512, role: 'fallback' },
    ]);
    const documents = await modes.embedDocuments(DOCUMENTS);
    for (const { embeddings, missing } of documents) {
      expect(embeddings.map(({ modelId, vector }) => [modelId, vector?.length])).toEqual([
        [CLOUD, 384],
        [LOCAL, 512],
      ]);
      expect(missing).toEqual([]);
    }
    expect(await modes.embedQuery('kettle')).toMatchObject({ modelId: CLOUD, insteadOf: null });
  });

  test.each([
    ['429', { kind: 'status', status: 429 }, 1],
    ['500', { kind: 'status', status: 500 }, 1],
    ['a dropped connection', { kind: 'drop' }, 1],
    ['an answer cut short', { kind: 'cut_short' }, 1],
    ['a hanging service', { kind: 'hang' }, 1],
  ] as const)(
    '%s: the fallback answers at once, under its own name, without an error',
    async (_, behaviour, asked) => {
      const modes = hybrid(behaviour.kind === 'hang' ? { cloud: cloud({ calls: IMPATIENT }) } : {});
      server.always(behaviour);
      const query = await modes.embedQuery('kettle');
      expect(query).toMatchObject({ modelId: LOCAL, insteadOf: CLOUD });
      // The vector is the fallback's too: one of the other model would be compared with the wrong entries.
      expect(query?.vector).toHaveLength(512);
      expect(server.requests).toHaveLength(asked);
      const [document] = await modes.embedDocuments(DOCUMENTS);
      expect(document?.embeddings.map(({ modelId }) => modelId)).toEqual([LOCAL]);
      expect(document?.missing).toEqual([CLOUD]);
      expect(kinds()).toEqual(expect.arrayContaining(['fallback', 'missing']));
      expect(events.find(({ kind }) => kind === 'missing')).toMatchObject({ modelId: CLOUD, documents: 2 });
    },
  );

  test('what was missing is filled in once the service is back', async () => {
    const modes = hybrid();
    server.next({ kind: 'status', status: 503 });
    const [{ missing = [] } = {}] = await modes.embedDocuments(DOCUMENTS);
    const filled = await modes.embedUnder(missing[0] ?? '', DOCUMENTS);
    expect(filled.map(({ modelId, vector }) => [modelId, vector?.length])).toEqual([
      [CLOUD, 384],
      [CLOUD, 384],
    ]);
  });

  test('with the rule retry the service is asked again, and its end is an error', async () => {
    const modes = hybrid({ on5xx: 'retry', cloud: cloud({ calls: { maxRetries: 2 } }) });
    server.next({ kind: 'status', status: 500 });
    expect(await modes.embedQuery('kettle')).toMatchObject({ modelId: CLOUD });
    server.always({ kind: 'status', status: 500 });
    await expect(modes.embedQuery('kettle again')).rejects.toMatchObject({ failure: 'server_error' });
    await expect(modes.embedDocuments(DOCUMENTS)).rejects.toMatchObject({ code: 'embedding_failed' });
  });

  test('each failure has its own rule', async () => {
    const modes = hybrid({ on429: 'local', on5xx: 'retry', cloud: cloud({ calls: { maxRetries: 0 } }) });
    server.next({ kind: 'status', status: 500 }, { kind: 'status', status: 429 });
    await expect(modes.embedQuery('first')).rejects.toMatchObject({ failure: 'server_error' });
    expect(await modes.embedQuery('second')).toMatchObject({ modelId: LOCAL, insteadOf: CLOUD });
  });

  test('a 429 is not answered by the fallback where its rule is retry', async () => {
    const modes = hybrid({ on429: 'retry', on5xx: 'local', cloud: cloud({ calls: { maxRetries: 1 } }) });
    server.always({ kind: 'status', status: 429 });
    await expect(modes.embedQuery('kettle')).rejects.toMatchObject({ failure: 'rate_limited' });
    expect(server.requests).toHaveLength(2);
  });

  test('a failure that nothing stands in for does not wait for the other model', async () => {
    const slow = await startEmbeddingServer({ vectorOf });
    slow.always({ kind: 'hang' });
    const local = { ...cloud(), model: 'other', baseUrl: slow.openAiUrl, calls: { timeoutMs: 600_000 } };
    const modes = hybrid({ local });
    server.always({ kind: 'status', status: 400 });
    // The other model hangs for ten minutes; waiting for it would not end in time.
    await expect(modes.embedDocuments(DOCUMENTS)).rejects.toMatchObject({ failure: 'refused' });
    await slow.close();
  });

  test.each([
    ['a refused key', { kind: 'status', status: 401 }],
    ['an unknown model', { kind: 'status', status: 404 }],
    ['a refused request', { kind: 'status', status: 400 }],
    ['vectors of another length', { kind: 'change', change: () => [[1, 2, 3]] }],
  ] as const)('%s is for somebody to mend: nothing stands in for it', async (_, behaviour) => {
    const modes = hybrid();
    server.always(behaviour);
    await expect(modes.embedQuery('kettle')).rejects.toMatchObject({ code: 'embedding_failed' });
    await expect(modes.embedDocuments(DOCUMENTS.slice(1))).rejects.toMatchObject({
      code: 'embedding_failed',
    });
    expect(kinds()).not.toContain('fallback');
  });

  test('while a service hangs, sixteen callers at once are all answered, and soon nobody waits for it', async () => {
    const modes = hybrid({
      cloud: cloud({ calls: { ...IMPATIENT, breakerThreshold: 3, breakerOpenMs: 60_000 } }),
    });
    server.always({ kind: 'hang' });
    const ask = (index: number) => modes.embedQuery(`question ${index}`);
    const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => ask(index)));
    expect(new Set(answers.map((answer) => answer?.modelId))).toEqual(new Set([LOCAL]));
    for (let call = 0; call < 4; call += 1) await ask(100 + call);
    const asked = server.requests.length;
    // Who asks nothing waits for nothing.
    await Promise.all(Array.from({ length: 16 }, (_, index) => ask(200 + index)));
    expect(server.requests).toHaveLength(asked);
  });

  test('a call that is given up is not answered by the fallback', async () => {
    const modes = hybrid();
    server.always({ kind: 'hang' });
    const aborter = new AbortController();
    const query = modes.embedQuery('kettle', { signal: aborter.signal });
    const documents = modes.embedDocuments(DOCUMENTS, { signal: aborter.signal });
    const both = [
      expect(query).rejects.toThrow('the client left'),
      expect(documents).rejects.toThrow('the client left'),
    ];
    aborter.abort(new Error('the client left'));
    await Promise.all(both);
    expect(kinds()).toEqual([]);
  });

  test('when both fail, the failure of the first is told', async () => {
    const modes = hybrid({
      local: { ...cloud(), model: 'other', baseUrl: 'http://127.0.0.1:9', calls: { maxRetries: 0 } },
    });
    server.always({ kind: 'status', status: 500, text: 'the first one' });
    await expect(modes.embedDocuments(DOCUMENTS)).rejects.toThrow('the first one');
  });

  test('a fallback that fails leaves a gap too, which the first model does not', async () => {
    const other = 'openai/other/384';
    const modes = hybrid({
      local: { ...cloud(), model: 'other', baseUrl: 'http://127.0.0.1:9', calls: { maxRetries: 0 } },
    });
    const [document] = await modes.embedDocuments(DOCUMENTS);
    expect(document?.embeddings.map(({ modelId }) => modelId)).toEqual([CLOUD]);
    expect(document?.missing).toEqual([other]);
  });
});

describe('what is embedded', () => {
  test('the configured fields stand before the content, in documents and not in queries, under another model id', async () => {
    const modes = open({ mode: 'cloud', cloud: cloud(), documentFields: ['metadata.speaker'] });
    const said = { content: 'I went to the museum.', metadata: { speaker: 'Caroline' } };
    expect(modes.textOf(said)).toBe('Caroline: I went to the museum.');
    const [document] = await modes.embedDocuments([said]);
    await modes.embedQuery('museum');
    expect(server.requests.map(({ input }) => input)).toEqual([
      ['Caroline: I went to the museum.'],
      ['museum'],
    ]);
    const [model] = modes.models;
    expect(model?.modelId).toMatch(/^openai\/company-model\/384\+fields-[0-9a-f]{8}$/);
    // One id on every path: the entries', the query's, and that of a later fill.
    const later = await modes.embedUnder(model?.modelId ?? '', [said]);
    const query = await modes.embedQuery('museum');
    const ids = [document?.embeddings[0]?.modelId, later[0]?.modelId, query?.modelId];
    expect(new Set(ids)).toEqual(new Set([model?.modelId]));
  });

  test('a text is paid for once, as long as it is remembered', async () => {
    const modes = open({ mode: 'cloud', cloud: cloud() });
    for (let time = 0; time < 3; time += 1) await modes.embedDocuments([...DOCUMENTS, ...DOCUMENTS]);
    expect(server.requests.map(({ input }) => input.length)).toEqual([2]);
  });

  test('many callers at once share requests', async () => {
    const modes = open({ mode: 'cloud', cloud: cloud() });
    await Promise.all(Array.from({ length: 50 }, (_, index) => modes.embedQuery(`question ${index}`)));
    expect(server.requests.length).toBeLessThan(10);
  });

  test('a long text is marked on its embedding', async () => {
    const modes = open({ mode: 'cloud', cloud: cloud({ maxTokens: 16 }) });
    const [whole, long] = await modes.embedDocuments([{ content: 'short' }, { content: 'word '.repeat(30) }]);
    expect(whole?.embeddings[0]?.coverage).toBe('whole');
    expect(long?.embeddings[0]?.coverage).toBe('chunked');
  });
});

describe('checking the models', () => {
  test('tells which can be used and why another can not, and never rejects', async () => {
    const modes = open({ mode: 'hybrid', cloud: cloud() });
    server.always({ kind: 'status', status: 401 });
    const [first, second] = await modes.check();
    expect(first).toMatchObject({
      model: { modelId: CLOUD },
      probe: null,
      error: { failure: 'credentials' },
    });
    expect(second).toMatchObject({ model: { modelId: LOCAL }, error: null });
  });

  test('looks past the cache: a service whose vectors change is found', async () => {
    const modes = open({ mode: 'cloud', cloud: cloud() });
    const turned = (vectors: readonly (readonly number[])[]) => vectors.map((vector) => vector.toReversed());
    server.next({ kind: 'answer' }, { kind: 'change', change: turned });
    const [check] = await modes.check();
    expect(check?.error?.message).toMatch(/gives one text different vectors/);
  });

  test('finds another model under a known name by the fingerprint of an earlier check', async () => {
    const modes = open({ mode: 'cloud', cloud: cloud() });
    const [earlier] = await modes.check();
    const known = new Map([[CLOUD, earlier?.probe?.fingerprint ?? new Float32Array()]]);
    expect(await modes.check(known)).toMatchObject([{ error: null }]);
    server.always({
      kind: 'change',
      change: (vectors) => vectors.map((vector) => vector.toReversed()),
    });
    const [later] = await modes.check(known);
    expect(later?.error?.message).toMatch(/is not the model it was/);
  });
});

describe('configurations that can not be', () => {
  test.each([
    [{ mode: 'cloud' }, /mode cloud needs a cloud provider/],
    [{ mode: 'hybrid' }, /mode hybrid needs a cloud provider/],
    [{ mode: 'hybrid', cloud: { provider: 'hashing' } }, /one model, hashing-512-v1, as cloud and as local/],
    [{ mode: 'mixed' }, /mode is "mixed"; allowed: disabled, local, cloud, hybrid/],
    [{ on429: 'wait' }, /on429 is "wait"; allowed: retry, local/],
    [{ on5xx: 'fail' }, /on5xx is "fail"; allowed: retry, local/],
    [{ local: { provider: 'hashing', model: 'x' } }, /hashing has no option "model"/],
    [{ local: { provider: 'nothing' } }, /no embedding provider "nothing"/],
    [{ documentFields: ['speaker'] }, /no field "speaker"/],
  ])('%j', (config, message) => {
    // As it comes from a file: not everything in it is of its type.
    const open = () => createEmbeddingModes(JSON.parse(JSON.stringify(config)));
    expect(open).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    expect(open).toThrow(message);
  });
});
