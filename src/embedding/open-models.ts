import type { EmbeddingProvider, EmbeddingService } from '../core/ports.ts';
import { singleModelService } from '../core/single-model.ts';
import type { JsonObject } from '../core/types.ts';
import { checkedProvider } from './checked.ts';
import { createEmbeddingModes, DEFAULT_EMBEDDING_CONFIG, type EmbeddingConfig } from './modes.ts';
import { type EmbeddingProviderConfig, providerConfigOf } from './provider-config.ts';
import type { ProviderParts } from './registry.ts';

/** What makes the vectors: a configuration, or a provider of one's own. */
export type EmbeddingChoice = EmbeddingConfig | EmbeddingProvider;

/** The models of a choice, and how any process opens one of them alone. */
export interface OpenedModels {
  readonly configured: EmbeddingService;
  /** What a model of the choice is opened with by `open`, as JSON without a secret; null for a provider of one's own. */
  readonly settingsOf: (modelId: string) => JsonObject | null;
  /** @throws PalimpsestError `invalid_config` for settings that mean nothing here */
  readonly open: (settings: JsonObject) => EmbeddingService;
  /**
   * The settings of a provider that is named, or configured as in `EmbeddingConfig`, with the fields that the choice
   * embeds.
   *
   * @throws PalimpsestError `invalid_config`
   */
  readonly settingsFor: (provider: string | JsonObject) => JsonObject;
}

export function openModels(choice: EmbeddingChoice, parts: ProviderParts = {}): OpenedModels {
  const open = (settings: JsonObject) => createEmbeddingModes(configOf(settings), parts);
  if ('embed' in choice) {
    return {
      configured: singleModelService(checkedProvider(choice)),
      settingsOf: () => null,
      open,
      settingsFor: (provider) => settingsOf(provider, []),
    };
  }
  const configured = createEmbeddingModes(choice, parts);
  const fields = choice.documentFields ?? DEFAULT_EMBEDDING_CONFIG.documentFields;
  const providers = providersOf(choice);
  const known = new Map(
    configured.models.flatMap(({ modelId }, place): [string, JsonObject][] => {
      const provider = providers[place];
      return provider === undefined ? [] : [[modelId, settingsOf(provider, fields)]];
    }),
  );
  return {
    configured,
    settingsOf: (modelId) => known.get(modelId) ?? null,
    open,
    settingsFor: (provider) => settingsOf(provider, fields),
  };
}

/** The providers of a configuration, in the order of its models. */
function providersOf({ mode, local, cloud }: EmbeddingConfig): JsonObject[] {
  const own = local ?? DEFAULT_EMBEDDING_CONFIG.local;
  const used: Record<NonNullable<EmbeddingConfig['mode']>, (EmbeddingProviderConfig | undefined)[]> = {
    disabled: [],
    local: [own],
    cloud: [cloud],
    hybrid: [cloud, own],
  };
  return used[mode ?? DEFAULT_EMBEDDING_CONFIG.mode].flatMap((provider) =>
    provider === undefined ? [] : [asJson(provider)],
  );
}

/** One model alone is `local`, wherever its provider is: nothing stands in for it. */
function settingsOf(provider: string | JsonObject, documentFields: readonly string[]): JsonObject {
  const local = typeof provider === 'string' ? { provider } : provider;
  return { local, ...(documentFields.length === 0 ? {} : { documentFields: [...documentFields] }) };
}

/** A configuration is JSON but for what is undefined in it. */
function asJson(provider: EmbeddingProviderConfig): JsonObject {
  return JSON.parse(JSON.stringify(provider)) as JsonObject;
}

function configOf({ local, documentFields }: JsonObject): EmbeddingConfig {
  return {
    mode: 'local',
    local: providerConfigOf(local),
    documentFields: isTexts(documentFields) ? documentFields : [],
  };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
