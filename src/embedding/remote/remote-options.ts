import { MAX_EMBEDDING_DIMENSIONS } from '../../core/defaults.ts';
import { excerpt, PalimpsestError } from '../../core/errors.ts';
import type { EmbeddingObserver } from '../events.ts';
import { type ModelFacts, type Prefixes, prefixesFor } from '../known-models.ts';
import { checkLongText, type LongTextOptions } from '../long-text.ts';
import { invalidOption, wholeNumber } from '../option-checks.ts';
import { variantId } from '../variant.ts';
import { type ApiKeySource, apiKeyReader, type Environment } from './api-key.ts';
import { type CallPolicy, type CallTools, DEFAULT_CALL_POLICY } from './resilient-calls.ts';

/** What every service over HTTP can be told. Where a default depends on the model, `known-models.ts` has it. */
export interface RemoteOptions extends LongTextOptions {
  /** The model's name, as the service knows it. */
  readonly model: string;
  /** Length of the vectors. Default: the model's own, where it is known; else it must be given. */
  readonly dimensions?: number | undefined;
  /**
   * Name under which vectors are kept. Default: made of service, model and dimensions. Give one where two services
   * have different models of one name.
   */
  readonly modelId?: string | undefined;
  /** Where the key is found. Default: none is sent. */
  readonly apiKey?: ApiKeySource | undefined;
  /** What is put before documents and queries. Default: what the model was trained with, where it is known. */
  readonly prefixes?: Partial<Prefixes> | undefined;
  /** Tokens the model reads of one text, 16 or more. Default: the model's own, where it is known; else 512. */
  readonly maxTokens?: number | undefined;
  /** Texts of one request, 1..2048, default 128. */
  readonly batchSize?: number | undefined;
  /** Tokens of one request, all texts together, 16 or more, default 100,000 (OpenAI refuses above 300,000). */
  readonly batchTokens?: number | undefined;
  /** How long and how often the service is asked. Default: `DEFAULT_CALL_POLICY`. */
  readonly calls?: Partial<CallPolicy> | undefined;
}

/** What a provider gets from around it. */
export interface RemoteParts {
  /** The variables that keys are read from. */
  readonly environment?: Environment | undefined;
  readonly observe?: EmbeddingObserver | undefined;
  readonly tools?: CallTools | undefined;
  /** Outranks what is configured: how a mode has its services asked. */
  readonly calls?: Partial<CallPolicy> | undefined;
}

/** For a model that is not known: what nearly every model reads. */
const DEFAULT_MAX_TOKENS = 512;
const DEFAULT_BATCH_SIZE = 128;
const DEFAULT_BATCH_TOKENS = 100_000;
const MAX_BATCH_SIZE = 2048;
const MIN_TOKENS = 16;

export interface RemoteLimits {
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly batchSize: number;
  readonly batchTokens: number;
  readonly calls: CallPolicy;
}

/**
 * The limits to work with, complete.
 *
 * @throws PalimpsestError `invalid_config` for a number out of range, and for dimensions that nobody knows
 */
export function remoteLimits(
  options: RemoteOptions,
  facts: ModelFacts,
  parts: Pick<RemoteParts, 'calls'>,
): RemoteLimits {
  const { model } = options;
  if (model.trim() === '') throw invalidOption('model', model, 'the name of a model of the service');
  checkLongText(options);
  const dimensions = options.dimensions ?? facts.dimensions;
  if (dimensions === undefined) {
    throw new PalimpsestError(
      'invalid_config',
      `The dimensions of the embedding model ${excerpt(model)} are not known. Configure them.`,
      {
        details: [
          { path: 'embedding.dimensions', allowed: `a whole number from 1 to ${MAX_EMBEDDING_DIMENSIONS}` },
        ],
      },
    );
  }
  return {
    dimensions: wholeNumber('dimensions', dimensions, 1, MAX_EMBEDDING_DIMENSIONS),
    maxTokens: wholeNumber(
      'maxTokens',
      options.maxTokens ?? facts.maxTokens ?? DEFAULT_MAX_TOKENS,
      MIN_TOKENS,
    ),
    batchSize: wholeNumber('batchSize', options.batchSize ?? DEFAULT_BATCH_SIZE, 1, MAX_BATCH_SIZE),
    batchTokens: wholeNumber('batchTokens', options.batchTokens ?? DEFAULT_BATCH_TOKENS, MIN_TOKENS),
    calls: callPolicy({ ...options.calls, ...parts.calls }),
  };
}

/** The configured name, or one made of everything that changes the vectors. */
export function remoteModelId(
  service: string,
  options: RemoteOptions,
  facts: ModelFacts,
  limits: Pick<RemoteLimits, 'dimensions' | 'maxTokens'>,
): string {
  const { model } = options;
  const settings = {
    prefixes: prefixesFor(model, options.prefixes),
    longText: options,
    maxTokens: limits.maxTokens,
  };
  const usual = {
    prefixes: prefixesFor(model, undefined),
    longText: {},
    maxTokens: facts.maxTokens ?? DEFAULT_MAX_TOKENS,
  };
  return options.modelId ?? variantId(`${service}/${model}/${limits.dimensions}`, settings, usual);
}

/** A function that reads the key, or undefined where none is configured. */
export function keyReader(options: RemoteOptions, parts: RemoteParts): (() => string) | undefined {
  return options.apiKey === undefined ? undefined : apiKeyReader(options.apiKey, parts.environment ?? {});
}

const SMALLEST: Readonly<Record<Exclude<keyof CallPolicy, 'retryRateLimited' | 'retryOutages'>, number>> = {
  timeoutMs: 1,
  queryTimeoutMs: 1,
  patienceMs: 1,
  queryPatienceMs: 1,
  maxRetries: 0,
  backoffMs: 0,
  maxBackoffMs: 0,
  concurrency: 1,
  breakerThreshold: 1,
  breakerOpenMs: 0,
};

function callPolicy(options: Partial<CallPolicy>): CallPolicy {
  const policy = { ...DEFAULT_CALL_POLICY, ...options };
  for (const [name, smallest] of Object.entries(SMALLEST)) {
    const value = Object.entries(policy).find(([key]) => key === name)?.[1];
    wholeNumber(`calls.${name}`, value, smallest);
  }
  return policy;
}

/**
 * The place that requests go to: the base URL and a path under it.
 *
 * @throws PalimpsestError `invalid_config` for what is no HTTP URL, and for one with a password in it, which would be
 *   a key in the configuration
 */
export function endpoint(baseUrl: string, path: string): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (base === null || !/^https?:$/.test(base.protocol)) {
    throw invalidOption('baseUrl', excerpt(baseUrl), 'an http or https URL');
  }
  if (base.username !== '' || base.password !== '') {
    throw invalidOption('baseUrl', 'a URL with a user name or password', 'a URL without them; use apiKey');
  }
  // A query such as Azure's `?api-version=…` stays behind the path.
  base.pathname = `${base.pathname.replace(/\/+$/, '')}/${path}`;
  return base;
}
