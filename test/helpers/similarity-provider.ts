import type { EmbeddingProvider } from '../../src/core/ports.ts';

/**
 * A provider whose cosines a test can choose: a text that starts with a number in [0, 1] has that similarity to
 * every query, any other text has nothing to embed.
 */
export function similarityProvider(): EmbeddingProvider {
  return {
    modelId: 'test-chosen-similarity',
    dimensions: 2,
    embed: async (texts, purpose) =>
      texts.map((text) => {
        if (purpose === 'query') return Float32Array.of(1, 0);
        const cosine = Number.parseFloat(text);
        return Number.isNaN(cosine) ? null : Float32Array.of(cosine, Math.sqrt(1 - cosine * cosine));
      }),
  };
}
