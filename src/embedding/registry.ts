import { excerpt, PalimpsestError } from '../core/errors.ts';
import { nearestName } from '../core/nearest-name.ts';
import type { EmbeddingProvider } from '../core/ports.ts';
import { checkedProvider } from './checked.ts';
import { createHashingProvider } from './hashing.ts';

/** What the config says about the provider. */
export interface EmbeddingProviderConfig {
  /** One of `EMBEDDING_PROVIDER_NAMES`. */
  readonly provider: string;
  /** Length of the vectors, where the provider lets one choose. Default: the provider's own. */
  readonly dimensions?: number | undefined;
}

type ProviderFactory = (config: EmbeddingProviderConfig) => EmbeddingProvider;

/** Every provider there is. A new one is one line here and a file of its own. */
const PROVIDERS: ReadonlyMap<string, ProviderFactory> = new Map([
  ['hashing', ({ dimensions }: EmbeddingProviderConfig) => createHashingProvider({ dimensions })],
]);

export const EMBEDDING_PROVIDER_NAMES: readonly string[] = [...PROVIDERS.keys()];

/**
 * The configured provider, wrapped so that it never answers broken vectors (`checkedProvider`).
 *
 * @throws PalimpsestError `invalid_config` for an unknown name, or for options the provider can not work with.
 */
export function createEmbeddingProvider(config: EmbeddingProviderConfig): EmbeddingProvider {
  const create = PROVIDERS.get(config.provider);
  if (create === undefined) throw unknownProvider(config.provider);
  return checkedProvider(create(config));
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
