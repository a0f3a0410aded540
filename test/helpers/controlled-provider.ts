import { PalimpsestError } from '../../src/core/errors.ts';
import type { EmbeddingProvider } from '../../src/core/ports.ts';

/** A provider that a test can break, and that counts what it is asked. */
export interface ControlledProvider extends EmbeddingProvider {
  /** Whether every call fails, as with a service that is down. */
  isDown: boolean;
  /** Texts that contain this are refused, and with them the call. */
  poison: string | null;
  /** Calls so far, the failed ones too. */
  calls: number;
}

export function controlledProvider(inner: EmbeddingProvider): ControlledProvider {
  const controlled: ControlledProvider = {
    modelId: inner.modelId,
    dimensions: inner.dimensions,
    isDown: false,
    poison: null,
    calls: 0,
    async embed(texts, purpose, options) {
      controlled.calls += 1;
      const { poison } = controlled;
      if (controlled.isDown) throw new PalimpsestError('embedding_failed', 'The service is down.');
      if (poison !== null && texts.some((text) => text.includes(poison))) {
        throw new PalimpsestError('embedding_failed', 'The service refuses a text.');
      }
      return inner.embed(texts, purpose, options);
    },
  };
  return controlled;
}
