import type { EmbeddingProvider } from '../../core/ports.ts';
import { estimateTokens } from '../estimate-tokens.ts';
import { modelFacts, prefixesFor } from '../known-models.ts';
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
import { answeredList, wireVector } from './wire-vectors.ts';

/** An Ollama server (`POST /api/embed`). */
export interface OllamaOptions extends RemoteOptions {
  /** Default http://127.0.0.1:11434. */
  readonly baseUrl?: string | undefined;
  /** How long the model stays loaded after a call, such as `5m` or `-1`. Default: the server's own. */
  readonly keepAlive?: string | undefined;
}

const OLLAMA_BASE_URL = 'http://127.0.0.1:11434';
/** Ollama embeds the texts of a request one after another: small requests let a query in between. */
const DEFAULT_BATCH_SIZE = 32;

/**
 * @throws PalimpsestError `invalid_config` for options that can not be, such as unknown dimensions
 */
export function createOllamaProvider(options: OllamaOptions, parts: RemoteParts = {}): EmbeddingProvider {
  const { model } = options;
  const facts = modelFacts(model);
  const limits = remoteLimits(
    { ...options, batchSize: options.batchSize ?? DEFAULT_BATCH_SIZE },
    facts,
    parts,
  );
  const url = endpoint(options.baseUrl ?? OLLAMA_BASE_URL, 'api/embed');
  const prefixes = prefixesFor(model, options.prefixes);
  const modelId = remoteModelId('ollama', options, facts, limits);
  const readKey = keyReader(options, parts);
  return remoteProvider({
    ...limits,
    modelId,
    prefixes,
    longText: options,
    loadCounter: async () => estimateTokens,
    call: resilientCalls(modelId, limits.calls, parts.observe, parts.tools),
    async request(input, signal) {
      const key = readKey?.();
      const answer = await postJson({
        url,
        key,
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        signal,
        body: {
          model,
          input,
          // An error about a text that is too long can be answered by cutting it; a silent cut can't.
          truncate: false,
          ...(options.keepAlive === undefined ? {} : { keep_alive: options.keepAlive }),
        },
        hints: { 404: `Run: ollama pull ${model}` },
      });
      return answeredList(answer, 'embeddings').map(wireVector);
    },
  });
}
