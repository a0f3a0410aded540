import { excerpt, PalimpsestError } from '../core/errors.ts';
import type { CacheOptions } from './cached.ts';
import type { HashingOptions } from './hashing.ts';
import type { MinilmOptions } from './local/minilm.ts';
import type { TransformersOptions } from './local/transformers.ts';
import type { OllamaOptions } from './remote/ollama.ts';
import type { OpenAiOptions } from './remote/openai.ts';

/**
 * One provider as a configuration names it: `provider`, and beside it the options of that provider. An option that
 * the provider does not have is refused.
 */
export interface EmbeddingProviderConfig extends AnyOption {
  /** One of `EMBEDDING_PROVIDER_NAMES`. */
  readonly provider: string;
  /** The cache of vectors before it. Default 32 MiB; for `hashing` none, which computes faster than it looks up. */
  readonly cache?: CacheOptions | undefined;
}

/**
 * A provider of a configuration that somebody has read. Which options it has, and what they may be, is checked when
 * it is opened.
 *
 * @throws PalimpsestError `invalid_config` where it names none
 */
export function providerConfigOf(settings: unknown): EmbeddingProviderConfig {
  if (isProviderConfig(settings)) return settings;
  throw new PalimpsestError('invalid_config', `${excerpt(settings)} is not an embedding provider.`, {
    details: [
      {
        path: 'embedding.local',
        got: excerpt(settings),
        allowed: 'an object with the field provider, and the options of that provider',
      },
    ],
  });
}

function isProviderConfig(value: unknown): value is EmbeddingProviderConfig {
  return (
    typeof value === 'object' && value !== null && 'provider' in value && typeof value.provider === 'string'
  );
}

/** Every option may be left out here: whether one is missing is the provider's to say. */
type AnyOption = { readonly [Name in keyof EveryOption]?: EveryOption[Name] | undefined };
type EveryOption = HashingOptions & MinilmOptions & TransformersOptions & OpenAiOptions & OllamaOptions;

/** The options each provider has. */
export const PROVIDER_OPTIONS = {
  hashing: optionNames<HashingOptions>()('dimensions'),
  minilm: optionNames<MinilmOptions>()(
    'modelFolder',
    'dimensions',
    'prefixes',
    'timeoutMs',
    'longText',
    'maxChunks',
  ),
  transformers: optionNames<TransformersOptions>()(
    'modelFolder',
    'model',
    'allowRemote',
    'dtype',
    'pooling',
    'dimensions',
    'maxTokens',
    'prefixes',
    'batchSize',
    'timeoutMs',
    'longText',
    'maxChunks',
  ),
  openai: optionNames<OpenAiOptions>()(
    'baseUrl',
    'model',
    'dimensions',
    'modelId',
    'apiKey',
    'apiKeyHeader',
    'encodingFormat',
    'prefixes',
    'maxTokens',
    'batchSize',
    'batchTokens',
    'calls',
    'longText',
    'maxChunks',
  ),
  ollama: optionNames<OllamaOptions>()(
    'baseUrl',
    'model',
    'dimensions',
    'modelId',
    'apiKey',
    'keepAlive',
    'prefixes',
    'maxTokens',
    'batchSize',
    'batchTokens',
    'calls',
    'longText',
    'maxChunks',
  ),
};

/** Makes the compiler refuse a list that names an option which is not there, or leaves one out. */
function optionNames<Options>() {
  return <const Names extends readonly (keyof Options)[]>(
    ...names: [keyof Options] extends [Names[number]] ? Names : never
  ): readonly string[] => names.map(String);
}
