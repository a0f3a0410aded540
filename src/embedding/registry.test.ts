import { expect, it } from 'vitest';
import { createEmbeddingProvider, EMBEDDING_PROVIDER_NAMES } from './registry.ts';

it('makes the hashing provider, with its own dimensions or the configured ones', () => {
  expect(createEmbeddingProvider({ provider: 'hashing' }).modelId).toBe('hashing-512-v1');
  expect(createEmbeddingProvider({ provider: 'hashing', dimensions: 128 })).toMatchObject({
    modelId: 'hashing-128-v1',
    dimensions: 128,
  });
});

it.each([
  ['hasing', 'Did you mean hashing?'],
  ['Hashing', 'Did you mean hashing?'],
  ['constructor', undefined],
  ['', undefined],
])('refuses the unknown name %j and lists the known ones', (provider, hint) => {
  expect(() => createEmbeddingProvider({ provider })).toThrow(
    expect.objectContaining({
      code: 'invalid_config',
      message: expect.stringContaining(`Known: ${EMBEDDING_PROVIDER_NAMES.join(', ')}`),
      details: [
        {
          path: 'embedding.provider',
          got: JSON.stringify(provider),
          allowed: [...EMBEDDING_PROVIDER_NAMES],
          hint,
        },
      ],
    }),
  );
});

it.each([0, 63, 16_001, 512.5])('refuses a hashing provider of %d dimensions', (dimensions) => {
  expect(() => createEmbeddingProvider({ provider: 'hashing', dimensions })).toThrow(
    expect.objectContaining({
      code: 'invalid_config',
      details: [expect.objectContaining({ got: String(dimensions) })],
    }),
  );
});

it('knows minilm under the name semantic too', () => {
  const byName = createEmbeddingProvider({ provider: 'minilm' });
  expect(createEmbeddingProvider({ provider: 'semantic' }).modelId).toBe(byName.modelId);
});

it('makes the providers of services, each under a model id of its own', () => {
  const model = { model: 'nomic-embed-text' };
  expect(createEmbeddingProvider({ provider: 'ollama', ...model }).modelId).toBe(
    'ollama/nomic-embed-text/768',
  );
  expect(createEmbeddingProvider({ provider: 'openai', ...model }).modelId).toBe(
    'openai/nomic-embed-text/768',
  );
  const named = createEmbeddingProvider({ provider: 'openai', ...model, modelId: 'ours-2026' });
  expect(named.modelId).toBe('ours-2026');
});

it.each([
  [{ provider: 'hashing', model: 'x' }, 'model', undefined],
  [{ provider: 'hashing', dimension: 128 }, 'dimension', 'Did you mean dimensions?'],
  [{ provider: 'minilm', apiKey: { env: 'KEY' } }, 'apiKey', undefined],
  [{ provider: 'openai', model: 'x', keepAlive: '5m' }, 'keepAlive', undefined],
])('refuses an option that the provider does not have: %j', (config, option, hint) => {
  expect(() => createEmbeddingProvider(config)).toThrow(
    expect.objectContaining({
      code: 'invalid_config',
      message: expect.stringContaining(`has no option "${option}"`),
      details: [expect.objectContaining({ path: `embedding.${option}`, hint })],
    }),
  );
});

it('takes an option that is undefined for one that is not there', () => {
  expect(createEmbeddingProvider({ provider: 'hashing', model: undefined }).modelId).toBe('hashing-512-v1');
});

it('refuses a service without a model', () => {
  for (const provider of ['openai', 'ollama']) {
    expect(() => createEmbeddingProvider({ provider })).toThrow(/model/);
  }
});

it('refuses numbers and words that can not be', () => {
  const refused = (config: object) => () => createEmbeddingProvider({ provider: 'minilm', ...config });
  expect(refused({ cache: { maxBytes: 0 } })).toThrow(
    /cache\.maxBytes is 0; allowed: a whole number, 1 or more/,
  );
  expect(refused({ maxChunks: 0 })).toThrow(/maxChunks is 0/);
  expect(refused({ longText: 'drop' })).toThrow(/longText is "drop"; allowed: chunk, truncate/);
  expect(refused({ timeoutMs: 0 })).toThrow(/timeoutMs is 0/);
});
