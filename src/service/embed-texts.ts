import { PalimpsestError } from '../core/errors.ts';
import type { EmbeddingProvider, EmbeddingPurpose } from '../core/ports.ts';

/**
 * One vector per text, or null where the text has nothing to embed.
 *
 * @throws PalimpsestError `embedding_failed` for whatever goes wrong, so that nothing is written and no empty
 *   result is taken for an answer.
 */
export async function embedTexts(
  provider: EmbeddingProvider,
  texts: readonly string[],
  purpose: EmbeddingPurpose,
): Promise<(Float32Array | null)[]> {
  const vectors = await embedOrFail(provider, texts, purpose);
  if (vectors.length === texts.length) return vectors;
  throw new PalimpsestError(
    'embedding_failed',
    `The embedding provider ${provider.modelId} answered ${vectors.length} vectors for ${texts.length} texts. Nothing was written.`,
  );
}

async function embedOrFail(
  provider: EmbeddingProvider,
  texts: readonly string[],
  purpose: EmbeddingPurpose,
): Promise<(Float32Array | null)[]> {
  try {
    return await provider.embed(texts, purpose);
  } catch (error) {
    if (PalimpsestError.isInstance(error)) throw error;
    throw new PalimpsestError(
      'embedding_failed',
      `The embedding provider ${provider.modelId} failed. Nothing was written; try again.`,
      { cause: error },
    );
  }
}
