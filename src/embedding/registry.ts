import { excerpt, PalimpsestError } from '../core/errors.ts';
import { nearestName } from '../core/nearest-name.ts';
import type { EmbeddingProvider } from '../core/ports.ts';
import { batchedProvider } from './batched.ts';
import { cachedProvider } from './cached.ts';
import { checkedProvider } from './checked.ts';
import { createHashingProvider } from './hashing.ts';
import { createMinilmProvider } from './local/minilm.ts';
import { createTransformersProvider, type TransformersParts } from './local/transformers.ts';
import { observedProvider } from './observed.ts';
import { type EmbeddingProviderConfig, PROVIDER_OPTIONS } from './provider-config.ts';
import { createOllamaProvider } from './remote/ollama.ts';
import { createOpenAiProvider } from './remote/openai.ts';
import type { RemoteParts } from './remote/remote-options.ts';

/** What providers get from around them, beside their options. */
export type ProviderParts = RemoteParts & TransformersParts;

/** How a provider is made, and what stands before it. */
interface ProviderKind {
  readonly create: (config: EmbeddingProviderConfig, parts: ProviderParts) => EmbeddingProvider;
  readonly options: readonly string[];
  /** True where looking a vector up costs less than making it. */
  readonly isCached: boolean;
  /** True where one call for many requests costs less than many calls. */
  readonly isBatched: boolean;
}

const MINILM: ProviderKind = {
  create: createMinilmProvider,
  options: PROVIDER_OPTIONS.minilm,
  isCached: true,
  isBatched: false,
};

/** Every provider there is. A new one is an entry here and a file of its own. */
const PROVIDERS: ReadonlyMap<string, ProviderKind> = new Map<string, ProviderKind>([
  [
    'hashing',
    {
      create: createHashingProvider,
      options: PROVIDER_OPTIONS.hashing,
      isCached: false,
      isBatched: false,
    },
  ],
  ['minilm', MINILM],
  // The name for whoever wants meaning and no choice of models.
  ['semantic', MINILM],
  [
    'transformers',
    {
      create: createTransformersProvider,
      options: PROVIDER_OPTIONS.transformers,
      isCached: true,
      isBatched: false,
    },
  ],
  [
    'openai',
    {
      create: (config, parts) => createOpenAiProvider({ ...config, model: config.model ?? '' }, parts),
      options: PROVIDER_OPTIONS.openai,
      isCached: true,
      isBatched: true,
    },
  ],
  [
    'ollama',
    {
      create: (config, parts) => createOllamaProvider({ ...config, model: config.model ?? '' }, parts),
      options: PROVIDER_OPTIONS.ollama,
      isCached: true,
      isBatched: true,
    },
  ],
]);

export const EMBEDDING_PROVIDER_NAMES: readonly string[] = [...PROVIDERS.keys()];

/** A provider, and the same one without a cache or batches before it, to be probed. */
export interface OpenedProvider {
  readonly provider: EmbeddingProvider;
  readonly direct: EmbeddingProvider;
}

/**
 * The configured provider, wrapped so that it never answers broken vectors (`checkedProvider`), asks for many requests
 * at once where that pays (`batchedProvider`), and does not pay twice for a text (`cachedProvider`).
 *
 * @throws PalimpsestError `invalid_config` for an unknown name, for options that the provider does not have, and for
 *   options it can not work with
 */
export function openProvider(config: EmbeddingProviderConfig, parts: ProviderParts = {}): OpenedProvider {
  const kind = PROVIDERS.get(config.provider);
  if (kind === undefined) throw unknownProvider(config.provider);
  refuseUnknownOptions(config, kind);
  const made = kind.create(config, parts);
  const observed =
    parts.observe === undefined || kind.isBatched ? made : observedProvider(made, parts.observe);
  const direct = checkedProvider(observed);
  const batched = kind.isBatched ? batchedProvider(direct, { maxTexts: config.batchSize }) : direct;
  const isCached = kind.isCached || config.cache !== undefined;
  return { direct, provider: isCached ? cachedProvider(batched, config.cache) : batched };
}

/** The provider of `openProvider`, for whoever needs no other. */
export function createEmbeddingProvider(
  config: EmbeddingProviderConfig,
  parts: ProviderParts = {},
): EmbeddingProvider {
  return openProvider(config, parts).provider;
}

function refuseUnknownOptions(config: EmbeddingProviderConfig, { options }: ProviderKind): void {
  const allowed = [...options, 'cache'];
  const unknown = Object.entries(config).find(
    ([name, value]) => name !== 'provider' && value !== undefined && !allowed.includes(name),
  );
  if (unknown === undefined) return;
  const [name] = unknown;
  const nearest = nearestName(name, allowed);
  throw new PalimpsestError(
    'invalid_config',
    `The embedding provider ${config.provider} has no option ${excerpt(name)}. It has: ${allowed.join(', ')}.`,
    {
      details: [
        {
          path: `embedding.${name}`,
          got: excerpt(name),
          allowed,
          hint: nearest === null ? undefined : `Did you mean ${nearest}?`,
        },
      ],
    },
  );
}

function unknownProvider(name: string): PalimpsestError {
  const nearest = nearestName(name, EMBEDDING_PROVIDER_NAMES);
  return new PalimpsestError(
    'invalid_config',
    `There is no embedding provider ${excerpt(name)}. Known: ${EMBEDDING_PROVIDER_NAMES.join(', ')}.`,
    {
      details: [
        {
          path: 'embedding.provider',
          got: excerpt(name),
          allowed: [...EMBEDDING_PROVIDER_NAMES],
          hint: nearest === null ? undefined : `Did you mean ${nearest}?`,
        },
      ],
    },
  );
}
