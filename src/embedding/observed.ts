import type { EmbeddingProvider } from '../core/ports.ts';
import type { EmbeddingObserver } from './events.ts';

/** A provider in this process whose calls are told of, as those of services are by `resilientCalls`. */
export function observedProvider(inner: EmbeddingProvider, observe: EmbeddingObserver): EmbeddingProvider {
  const { modelId } = inner;
  return {
    ...inner,
    async embed(texts, purpose, options) {
      const begun = performance.now();
      const durationMs = () => performance.now() - begun;
      try {
        const vectors = await inner.embed(texts, purpose, options);
        observe({ kind: 'answered', modelId, purpose, texts: texts.length, durationMs: durationMs() });
        return vectors;
      } catch (error) {
        if (options?.signal?.aborted !== true) {
          observe({ kind: 'failed', modelId, purpose, failure: 'local_model', durationMs: durationMs() });
        }
        throw error;
      }
    },
  };
}
