import type { EmbeddingProvider } from '../../core/ports.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { type ModelFacts, modelFacts, prefixesFor } from '../known-models.ts';
import type { CountTokens } from '../split-text.ts';
import { postJson } from './post-json.ts';
import {
  endpoint,
  keyReader,
  type RemoteOptions,
  type RemoteParts,
  remoteLimits,
  remoteModelId,
} from './remote-options.ts';
import { remoteProvider } from './remote-provider.ts';
import { resilientCalls } from './resilient-calls.ts';
import { answeredList, badAnswer, isRecord, wireVector } from './wire-vectors.ts';

/** A service that speaks OpenAI's `POST /embeddings`: OpenAI itself, Azure, vLLM, TEI, LM Studio, LocalAI … */
export interface OpenAiOptions extends RemoteOptions {
  /** Where `/embeddings` is found, default OpenAI's own `/v1`. A query, such as `?api-version=…`, is kept. */
  readonly baseUrl?: string | undefined;
  /** Header the key is sent in, default `authorization` (as `Bearer …`); Azure wants `api-key`, and gets it bare. */
  readonly apiKeyHeader?: string | undefined;
  /**
   * How numbers are asked for, default `float`, which every service knows. `base64` makes an answer a third as
   * long. Whichever comes back is understood.
   */
  readonly encodingFormat?: 'float' | 'base64' | undefined;
}

const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/**
 * @throws PalimpsestError `invalid_config` for options that can not be, such as unknown dimensions or a missing key
 */
export function createOpenAiProvider(options: OpenAiOptions, parts: RemoteParts = {}): EmbeddingProvider {
  const { model } = options;
  const facts = modelFacts(model);
  const limits = remoteLimits(options, facts, parts);
  const url = endpoint(options.baseUrl ?? OPENAI_BASE_URL, 'embeddings');
  const prefixes = prefixesFor(model, options.prefixes);
  const modelId = remoteModelId('openai', options, facts, limits);
  const readKey = keyReader(options, parts);
  const isShortened = facts.canShorten === true && limits.dimensions !== facts.dimensions;
  return remoteProvider({
    ...limits,
    modelId,
    prefixes,
    longText: options,
    loadCounter: () => counterOf(facts),
    call: resilientCalls(modelId, limits.calls, parts.observe, parts.tools),
    async request(input, signal) {
      const key = readKey?.();
      const answer = await postJson({
        url,
        key,
        headers: keyHeader(key, options.apiKeyHeader),
        signal,
        body: {
          model,
          input,
          encoding_format: options.encodingFormat ?? 'float',
          ...(isShortened ? { dimensions: limits.dimensions } : {}),
        },
        hints: { 404: `Check the base URL, and that the service has the model ${model}.` },
      });
      return vectorsInOrder(answeredList(answer, 'data'), input.length);
    },
  });
}

function keyHeader(key: string | undefined, header = 'authorization'): Record<string, string> {
  if (key === undefined) return {};
  return { [header]: header.toLowerCase() === 'authorization' ? `Bearer ${key}` : key };
}

async function counterOf({ encoding }: ModelFacts): Promise<CountTokens> {
  if (encoding === undefined) return estimateTokens;
  const { countTokens } = await import('gpt-tokenizer/encoding/cl100k_base');
  // A text that spells a special token, such as <|endoftext|>, is a text; by default it would be an error.
  return (text) => countTokens(text, { disallowedSpecial: new Set() });
}

/** Each vector carries the place of its text: services may answer out of order. */
function vectorsInOrder(data: readonly unknown[], count: number): Float32Array[] {
  const vectors: Float32Array[] = [];
  for (const [position, item] of data.entries()) {
    const index = isRecord(item) ? (item.index ?? position) : position;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      throw badAnswer(`sent a vector for text ${String(index)} of ${count}`, { got: String(index) });
    }
    if (vectors[index] !== undefined) {
      throw badAnswer(`sent two vectors for text ${index}`);
    }
    vectors[index] = wireVector(isRecord(item) ? item.embedding : item, index);
  }
  return vectors;
}
