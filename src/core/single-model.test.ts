import { describe, expect, test } from 'vitest';
import type { EmbeddingProvider, EmbedOptions } from './ports.ts';
import { singleModelService } from './single-model.ts';

/** Makes a vector of the text's length, cuts at ten characters, finds nothing in an empty text. */
function lengthProvider(seen: unknown[][] = []): EmbeddingProvider {
  return {
    modelId: 'length-1',
    dimensions: 1,
    async embed(texts, purpose, options: EmbedOptions = {}) {
      seen.push([...texts, purpose, options.signal]);
      return texts.map((text, item) => {
        if (text.length > 10) options.onPartial?.(item, 'truncated');
        return text === '' ? null : Float32Array.of(Math.min(text.length, 10));
      });
    },
  };
}

describe('one provider as an embedding service', () => {
  test('keeps documents under its one model and says how much of each the vector covers', async () => {
    const service = singleModelService(lengthProvider());
    expect(service.models).toEqual([{ modelId: 'length-1', dimensions: 1, role: 'primary' }]);
    expect(await service.embedDocuments([{ content: 'short' }, { content: 'longer than ten' }])).toEqual([
      { embeddings: [{ modelId: 'length-1', vector: Float32Array.of(5), coverage: 'whole' }], missing: [] },
      {
        embeddings: [{ modelId: 'length-1', vector: Float32Array.of(10), coverage: 'truncated' }],
        missing: [],
      },
    ]);
  });

  test('asks with the purpose and hands the signal on', async () => {
    const seen: unknown[][] = [];
    const { signal } = new AbortController();
    const service = singleModelService(lengthProvider(seen));
    await service.embedDocuments([{ content: 'tea', type: 'preference' }], { signal });
    const query = await service.embedQuery('', { signal });
    expect(seen).toEqual([
      ['tea', 'document', signal],
      ['', 'query', signal],
    ]);
    expect(query).toEqual({ modelId: 'length-1', vector: null, coverage: 'whole', insteadOf: null });
  });

  test('a model it does not have is a conflict, not an empty answer', async () => {
    await expect(singleModelService(lengthProvider()).embedUnder('other', [])).rejects.toMatchObject({
      code: 'conflict',
      details: [{ got: 'other', allowed: ['length-1'] }],
    });
  });
});
