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
