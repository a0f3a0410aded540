import { checkDocumentFields, type DocumentField, embeddedText } from '../core/embedded-text.ts';
import { excerpt, PalimpsestError } from '../core/errors.ts';
import type {
  EmbeddableDocument,
  EmbeddedDocument,
  EmbeddedQuery,
  Embedding,
  EmbeddingMode,
  EmbeddingModel,
  EmbeddingProvider,
  EmbeddingPurpose,
  EmbeddingService,
  EmbedOptions,
} from '../core/ports.ts';
import { embeddingsOf, unknownModel } from '../core/single-model.ts';
import type { EmbeddingObserver } from './events.ts';
import { oneOf } from './option-checks.ts';
import { type Probe, probeProvider } from './probe.ts';
import type { EmbeddingProviderConfig } from './provider-config.ts';
import { type OpenedProvider, openProvider, type ProviderParts } from './registry.ts';
import { EmbeddingCallError, isOutage } from './remote/call-error.ts';
import { shortHash } from './variant.ts';

/** What is done about a failure of the primary model in the mode `hybrid`: ask it again, or ask the local one. */
export type FailureRule = 'retry' | 'local';

/** How this server makes embeddings. */
export interface EmbeddingConfig {
  /**
   * Default `local`. `disabled`: no vectors; entries are stored, listed and found by words. `local` and `cloud`: the
   * provider of that name, alone. `hybrid`: entries are kept under both models, queries answered by `cloud`, or by
   * `local` where that failed.
   */
  readonly mode?: EmbeddingMode | undefined;
  /** Default `{ provider: 'hashing' }`. */
  readonly local?: EmbeddingProviderConfig | undefined;
  /** No default: the modes `cloud` and `hybrid` need one. */
  readonly cloud?: EmbeddingProviderConfig | undefined;
  /** In `hybrid`, what a 429 of the cloud leads to. Default `local`: at once, without waiting for its end. */
  readonly on429?: FailureRule | undefined;
  /** In `hybrid`, what a 5xx, a timeout or a lost connection leads to. Default `local`. */
  readonly on5xx?: FailureRule | undefined;
  /**
   * Fields that are embedded before an entry's content, such as `metadata.speaker`; default none. A change of them is
   * a change of the model, since every vector changes.
   */
  readonly documentFields?: readonly DocumentField[] | undefined;
}

export const DEFAULT_EMBEDDING_CONFIG = {
  mode: 'local',
  local: { provider: 'hashing' },
  on429: 'local',
  on5xx: 'local',
  documentFields: [],
} as const satisfies EmbeddingConfig;

/** What a check of one model found. */
export interface ModelCheck {
  readonly model: EmbeddingModel;
  /** Null where the model can be used. */
  readonly error: PalimpsestError | null;
  /** Null where it failed. To be kept, and given to the next check. */
  readonly probe: Probe | null;
}

/** The embedding service of a configuration, with a look at its models. */
export interface EmbeddingModes extends EmbeddingService {
  /**
   * Asks each model for vectors of known texts (`probeProvider`). It never rejects: a server starts without its cloud
   * model, and says so.
   *
   * @param known fingerprints of earlier checks by model id
   */
  check(
    known?: ReadonlyMap<string, Float32Array>,
    options?: Pick<EmbedOptions, 'signal'>,
  ): Promise<ModelCheck[]>;
}

/** A model in its role. */
interface Member {
  readonly model: EmbeddingModel;
  readonly provider: EmbeddingProvider;
  /** Without a cache. */
  readonly direct: EmbeddingProvider;
}

/**
 * @throws PalimpsestError `invalid_config` for an unknown mode or rule, a missing provider, one that can not be made, and
 *   for a `hybrid` of one model with itself
 */
export function createEmbeddingModes(config: EmbeddingConfig, parts: ProviderParts = {}): EmbeddingModes {
  const mode = config.mode ?? DEFAULT_EMBEDDING_CONFIG.mode;
  const fields = config.documentFields ?? DEFAULT_EMBEDDING_CONFIG.documentFields;
  checkDocumentFields(fields);
  const members = membersOf(mode, config, fields, parts);
  const observe = parts.observe ?? (() => undefined);
  const mayFallBack = fallbackRule(config);
  const textOf = (document: EmbeddableDocument) => embeddedText(document, fields);

  return {
    mode,
    models: members.map(({ model }) => model),
    documentFields: fields,
    textOf,
    async embedDocuments(documents, options) {
      const texts = documents.map(textOf);
      const answers = await embedUnderAll(members, texts, options, mayFallBack, observe);
      return documents.map((_, item) => documentOf(answers, item));
    },
    embedQuery: (query, options) => answerQuery(members, query, options, mayFallBack, observe),
    async embedUnder(modelId, documents, options) {
      const member = members.find(({ model }) => model.modelId === modelId);
      if (member === undefined) {
        throw unknownModel(
          modelId,
          members.map(({ model }) => model.modelId),
        );
      }
      return embeddingsOf(member.provider, documents.map(textOf), 'document', options);
    },
    check: (known = new Map(), options = {}) =>
      Promise.all(members.map((member) => checkModel(member, known, options.signal))),
    async close() {
      await Promise.all(members.map(({ provider }) => provider.close?.()));
    },
  };
}

const MODES: readonly EmbeddingMode[] = ['disabled', 'local', 'cloud', 'hybrid'];
const RULES: readonly FailureRule[] = ['retry', 'local'];

function membersOf(
  mode: EmbeddingMode,
  config: EmbeddingConfig,
  fields: readonly DocumentField[],
  parts: ProviderParts,
): Member[] {
  oneOf('mode', mode, MODES);
  if (mode === 'disabled') return [];
  const local = () => openProvider(config.local ?? DEFAULT_EMBEDDING_CONFIG.local, parts);
  if (mode === 'local') return [memberOf(local(), 'primary', fields)];
  const primary = memberOf(cloudProvider(mode, config, parts), 'primary', fields);
  if (mode === 'cloud') return [primary];
  const fallback = memberOf(local(), 'fallback', fields);
  if (fallback.model.modelId === primary.model.modelId) {
    throw new PalimpsestError(
      'invalid_config',
      `The modes of embedding name one model, ${primary.model.modelId}, as cloud and as local.`,
      {
        details: [
          {
            path: 'embedding.local',
            got: primary.model.modelId,
            allowed: 'two models, or mode "local" or "cloud" with one',
          },
        ],
      },
    );
  }
  return [primary, fallback];
}

function cloudProvider(mode: EmbeddingMode, config: EmbeddingConfig, parts: ProviderParts): OpenedProvider {
  const { cloud } = config;
  if (cloud === undefined) {
    throw new PalimpsestError('invalid_config', `The embedding mode ${mode} needs a cloud provider.`, {
      details: [{ path: 'embedding.cloud', allowed: 'a provider with its options' }],
    });
  }
  if (mode !== 'hybrid') return openProvider(cloud, parts);
  const { on429, on5xx } = rulesOf(config);
  // What the fallback answers is not retried first: somebody waits.
  const calls = { retryRateLimited: on429 === 'retry', retryOutages: on5xx === 'retry' };
  return openProvider(cloud, { ...parts, calls });
}

function rulesOf({ on429, on5xx }: EmbeddingConfig): {
  readonly on429: FailureRule;
  readonly on5xx: FailureRule;
} {
  return {
    on429: oneOf('on429', on429 ?? DEFAULT_EMBEDDING_CONFIG.on429, RULES),
    on5xx: oneOf('on5xx', on5xx ?? DEFAULT_EMBEDDING_CONFIG.on5xx, RULES),
  };
}

type MayFallBack = (error: unknown) => boolean;

/** Failures of the service are answered by the fallback; a refused key or request is for somebody to mend. */
function fallbackRule(config: EmbeddingConfig): MayFallBack {
  const { on429, on5xx } = rulesOf(config);
  return (error) => {
    if (!(error instanceof EmbeddingCallError)) return false;
    if (error.failure === 'rate_limited') return on429 === 'local';
    return isOutage(error.failure) && on5xx === 'local';
  };
}

function memberOf(
  { provider, direct }: OpenedProvider,
  role: EmbeddingModel['role'],
  fields: readonly DocumentField[],
): Member {
  const modelId = fields.length === 0 ? provider.modelId : `${provider.modelId}+fields-${shortHash(fields)}`;
  const named = { ...provider, modelId };
  return { model: { modelId, dimensions: provider.dimensions, role }, provider: named, direct };
}

/** Per model, in order: its embeddings, or why there are none. */
interface ModelAnswer {
  readonly modelId: string;
  readonly embeddings: readonly Embedding[] | null;
}

async function embedUnderAll(
  members: readonly Member[],
  texts: readonly string[],
  options: Pick<EmbedOptions, 'signal'> = {},
  mayFallBack: MayFallBack,
  observe: EmbeddingObserver,
): Promise<ModelAnswer[]> {
  const givenUp = new AbortController();
  const signal =
    options.signal === undefined ? givenUp.signal : AbortSignal.any([options.signal, givenUp.signal]);
  const results = await Promise.allSettled(
    members.map(async ({ model, provider }) => {
      try {
        return await embeddingsOf(provider, texts, 'document', { signal });
      } catch (error) {
        // What nothing can stand in for makes the whole call fail: the other model need not go on.
        if (model.role === 'primary' && !mayFallBack(error)) givenUp.abort(error);
        throw error;
      }
    }),
  );
  options.signal?.throwIfAborted();
  const failure = finalFailure(results, mayFallBack);
  if (failure !== undefined) throw failure.reason;
  return members.map(({ model: { modelId } }, place) => {
    const result = results[place];
    if (result?.status === 'fulfilled') return { modelId, embeddings: result.value };
    observe({ kind: 'missing', modelId, documents: texts.length, message: messageOf(result?.reason) });
    return { modelId, embeddings: null };
  });
}

/** The primary's failure, where nothing stands in for it: its kind is not to be answered by others, or all failed. */
function finalFailure(
  results: readonly PromiseSettledResult<Embedding[]>[],
  mayFallBack: MayFallBack,
): PromiseRejectedResult | undefined {
  const [primary] = results;
  if (primary?.status !== 'rejected') return undefined;
  const isAnswered = mayFallBack(primary.reason) && results.some(({ status }) => status === 'fulfilled');
  return isAnswered ? undefined : primary;
}

function documentOf(answers: readonly ModelAnswer[], item: number): EmbeddedDocument {
  return {
    embeddings: answers.flatMap(({ embeddings }) => embeddings?.[item] ?? []),
    missing: answers.filter(({ embeddings }) => embeddings === null).map(({ modelId }) => modelId),
  };
}

async function answerQuery(
  [primary, fallback]: readonly Member[],
  query: string,
  options: Pick<EmbedOptions, 'signal'> = {},
  mayFallBack: MayFallBack,
  observe: EmbeddingObserver,
): Promise<EmbeddedQuery | null> {
  if (primary === undefined) return null;
  try {
    return { ...(await embedOne(primary.provider, query, 'query', options)), insteadOf: null };
  } catch (error) {
    options.signal?.throwIfAborted();
    if (fallback === undefined || !mayFallBack(error)) throw error;
    const answer = await embedOne(fallback.provider, query, 'query', options);
    const insteadOf = primary.model.modelId;
    observe({ kind: 'fallback', modelId: fallback.model.modelId, insteadOf, message: messageOf(error) });
    return { ...answer, insteadOf };
  }
}

async function embedOne(
  provider: EmbeddingProvider,
  text: string,
  purpose: EmbeddingPurpose,
  options: Pick<EmbedOptions, 'signal'>,
): Promise<Embedding> {
  const [embedding] = await embeddingsOf(provider, [text], purpose, options);
  return embedding ?? { modelId: provider.modelId, vector: null };
}

async function checkModel(
  { model, direct }: Member,
  known: ReadonlyMap<string, Float32Array>,
  signal: AbortSignal | undefined,
): Promise<ModelCheck> {
  try {
    const probe = await probeProvider(direct, { known: known.get(model.modelId), signal });
    return { model, error: null, probe: { ...probe, modelId: model.modelId } };
  } catch (error) {
    return { model, error: asPalimpsestError(error), probe: null };
  }
}

function asPalimpsestError(error: unknown): PalimpsestError {
  if (PalimpsestError.isInstance(error)) return error;
  return new PalimpsestError('embedding_failed', `The check was given up: ${messageOf(error)}`, {
    cause: error,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : excerpt(error);
}
