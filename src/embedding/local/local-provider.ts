import type { EmbeddingProvider } from '../../core/ports.ts';
import type { Prefixes } from '../known-models.ts';
import { checkLongText } from '../long-text.ts';
import { wholeNumber } from '../option-checks.ts';
import type { EngineSpec } from './engine.ts';
import { workerClient } from './worker-client.ts';

export interface LocalProviderParts {
  readonly modelId: string;
  readonly dimensions: number;
  readonly prefixes: Prefixes;
  readonly textsPerMessage: number;
  /** Default `DEFAULT_TIMEOUT_MS`. */
  readonly timeoutMs?: number | undefined;
  readonly spec: EngineSpec;
}

/** Eight parts of 256 tokens take 6 s on one slow core, and the model is loaded before. */
const DEFAULT_TIMEOUT_MS = 60_000;

/** A provider whose model runs in a thread of this process. Blank texts have nothing to embed. */
export function localProvider(parts: LocalProviderParts): EmbeddingProvider {
  const { modelId, dimensions, prefixes, textsPerMessage } = parts;
  checkLongText(parts.spec.longText);
  const timeoutMs = wholeNumber('timeoutMs', parts.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1);
  const client = workerClient(parts.spec, { textsPerMessage, timeoutMs });
  return {
    modelId,
    dimensions,
    async embed(texts, purpose, options = {}) {
      const filled = texts.flatMap((text, item) => (text.trim() === '' ? [] : [{ text, item }]));
      const prefixed = filled.map(({ text }) => prefixes[purpose] + text);
      const answers = await client.embed(prefixed, purpose, options.signal);
      const vectors = texts.map((): Float32Array | null => null);
      for (const [index, { item }] of filled.entries()) {
        const answer = answers[index];
        vectors[item] = answer?.vector ?? null;
        if (answer !== undefined && answer.coverage !== 'whole') options.onPartial?.(item, answer.coverage);
      }
      return vectors;
    },
    close: () => client.close(),
  };
}
