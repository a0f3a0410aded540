import { MAX_EMBEDDING_DIMENSIONS } from '../core/defaults.ts';
import type { EmbeddingMode } from '../core/ports.ts';
import { type Field, flag, list, object, text, wholeNumber, word } from './form.ts';
import { invalidConfig } from './invalid-config.ts';
import { defineSettings, type ReadSetting } from './setting.ts';

/** A provider as the file names it. Which options it has, and what they may be, is the provider's to say. */
export type ProviderConfig = Readonly<Record<string, unknown>>;

/** How this server makes embeddings. What is undefined was not said. */
export interface EmbeddingConfig {
  readonly mode: EmbeddingMode;
  readonly local: ProviderConfig | undefined;
  readonly cloud: ProviderConfig | undefined;
  readonly on429: 'retry' | 'local' | undefined;
  readonly on5xx: 'retry' | 'local' | undefined;
  readonly documentFields: readonly string[] | undefined;
}

function field<Value>(form: Field<Value>['form'], meaning: string, standard: string): Field<Value> {
  return { form, meaning, standard };
}

/** The options of all providers. */
const PROVIDER_FIELDS = {
  provider: field(
    text('hashing, minilm, semantic, transformers, openai or ollama'),
    'Which provider it is.',
    'must be given',
  ),
  model: field(
    text('the name of a model'),
    "The model's name at the service, or in the hub.",
    'must be given to services',
  ),
  model_folder: field(text('a folder'), 'Folder of a model on this machine.', "the package's model"),
  model_id: field(
    text('a name'),
    'Name that vectors are kept under.',
    'made of service, model and dimensions',
  ),
  dimensions: field(
    wholeNumber(1, MAX_EMBEDDING_DIMENSIONS),
    'Length of the vectors.',
    "the model's, where it is known; `hashing`: 512",
  ),
  base_url: field(
    text('an http or https URL'),
    'Where the service is.',
    "OpenAI's; Ollama's on this machine",
  ),
  api_key: field(
    object({
      env: field(text('the name of an environment variable'), 'Variable that holds the key.', '–'),
      file: field(text('a path'), 'File that holds the key and nothing else; read at each call.', '–'),
    }),
    'Where the key is found; never the key itself.',
    'none is sent',
  ),
  api_key_header: field(text('the name of a header'), 'Header of the key.', '`authorization`, as `Bearer …`'),
  encoding_format: field(word(['float', 'base64']), 'How numbers are asked for.', '`float`'),
  keep_alive: field(
    text('a time such as 5m, or -1'),
    'How long Ollama keeps the model loaded.',
    "Ollama's own",
  ),
  prefixes: field(
    object({
      document: field(anyText(), 'Before documents.', "the model's"),
      query: field(anyText(), 'Before queries.', "the model's"),
    }),
    'What is put before texts.',
    'what the model was trained with, where it is known',
  ),
  max_tokens: field(
    wholeNumber(16),
    'Tokens that the model reads of one text.',
    "the model's, where it is known; else 512",
  ),
  long_text: field(word(['chunk', 'truncate']), 'What happens to longer texts.', '`chunk`'),
  max_chunks: field(wholeNumber(1), 'Parts of one text at most.', '8'),
  batch_size: field(wholeNumber(1), 'Texts of one request.', '128; Ollama 32; Transformers.js 1'),
  batch_tokens: field(wholeNumber(16), 'Tokens of one request.', '100000'),
  timeout_ms: field(wholeNumber(1), 'Longest time for one text of a local model.', '60000'),
  allow_remote: field(flag, 'Whether Transformers.js may download `model`.', 'false'),
  dtype: field(
    word(['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16']),
    'Number format of the weights of Transformers.js.',
    '`fp32`',
  ),
  pooling: field(
    word(['mean', 'cls', 'last_token']),
    'How vectors of tokens become one.',
    "the folder's, else `mean`",
  ),
  cache: field(
    object({ max_bytes: field(wholeNumber(1), 'Memory for vectors.', '33554432 (32 MiB)') }),
    'The cache of vectors.',
    'as below; `hashing` has none',
  ),
  calls: field(
    object({
      timeout_ms: field(wholeNumber(1), 'One attempt for documents.', '20000'),
      query_timeout_ms: field(wholeNumber(1), 'One attempt for a query.', '5000'),
      patience_ms: field(wholeNumber(1), 'Everything for documents, waits and retries included.', '60000'),
      query_patience_ms: field(wholeNumber(1), 'Everything for a query.', '10000'),
      max_retries: field(wholeNumber(0), 'Attempts after the first.', '3'),
      backoff_ms: field(wholeNumber(0), 'Longest first wait; it doubles.', '250'),
      max_backoff_ms: field(wholeNumber(0), 'Longest wait of all.', '8000'),
      concurrency: field(wholeNumber(1), 'Requests at once, and as many again for queries.', '4'),
      breaker_threshold: field(
        wholeNumber(1),
        'Outages in a row after which the service is left alone.',
        '5',
      ),
      breaker_open_ms: field(wholeNumber(0), 'How long it is left alone.', '15000'),
      retry_rate_limited: field(flag, 'Whether a 429 is retried.', 'true'),
      retry_outages: field(flag, 'Whether outages are retried.', 'true'),
    }),
    'How long and how often a service is asked.',
    'as below',
  ),
};

const provider = object(PROVIDER_FIELDS, ['provider']);
const failureRule = word(['retry', 'local']);

export const EMBEDDING_SETTINGS = defineSettings({
  provider: {
    key: null,
    variable: 'PALIMPSEST_EMBEDDING_PROVIDER',
    form: text('the name of a provider, or disabled'),
    meaning:
      'The one provider to use, or `disabled`. Outranks the mode; where `local` or `cloud` configures the provider of that name, its options hold.',
    standard: 'what the mode says',
  },
  mode: {
    key: 'embedding.mode',
    variable: 'PALIMPSEST_EMBEDDING_MODE',
    form: word(['disabled', 'local', 'cloud', 'hybrid']),
    meaning: 'Where vectors come from; see [embeddings](embeddings.md#modes).',
    standard: '`local`',
  },
  local: {
    key: 'embedding.local',
    variable: 'PALIMPSEST_EMBEDDING_LOCAL',
    form: provider,
    meaning: 'Provider of the modes `local` and `hybrid`, with its options; as a variable in JSON.',
    standard: '`{"provider": "hashing"}`',
  },
  cloud: {
    key: 'embedding.cloud',
    variable: 'PALIMPSEST_EMBEDDING_CLOUD',
    form: provider,
    meaning: 'Provider of the modes `cloud` and `hybrid`, with its options; as a variable in JSON.',
    standard: 'none: needed by these modes',
  },
  on429: {
    key: 'embedding.on_429',
    variable: 'PALIMPSEST_EMBEDDING_ON_429',
    form: failureRule,
    meaning: 'In `hybrid`, what a 429 of the cloud leads to.',
    standard: '`local`',
  },
  on5xx: {
    key: 'embedding.on_5xx',
    variable: 'PALIMPSEST_EMBEDDING_ON_5XX',
    form: failureRule,
    meaning: 'In `hybrid`, what a 5xx, a timeout or a lost connection leads to.',
    standard: '`local`',
  },
  documentFields: {
    key: 'embedding.document_fields',
    variable: 'PALIMPSEST_EMBEDDING_DOCUMENT_FIELDS',
    form: list(text('type, source.kind, source.ref or metadata.<key>')),
    meaning: "Fields that are embedded before an entry's content. A change of them is a change of the model.",
    standard: 'none',
  },
});

/**
 * @throws PalimpsestError `invalid_config`
 */
export function embeddingConfig(read: ReadSetting): EmbeddingConfig {
  const mode = read(EMBEDDING_SETTINGS.mode);
  const named = read(EMBEDDING_SETTINGS.provider);
  const config: EmbeddingConfig = {
    mode: mode.value ?? 'local',
    local: read(EMBEDDING_SETTINGS.local).value,
    cloud: read(EMBEDDING_SETTINGS.cloud).value,
    on429: read(EMBEDDING_SETTINGS.on429).value,
    on5xx: read(EMBEDDING_SETTINGS.on5xx).value,
    documentFields: read(EMBEDDING_SETTINGS.documentFields).value,
  };
  if (named.value === undefined) return config;
  if (mode.source === named.source) {
    throw invalidConfig(
      `${named.name} names the one provider to use, and ${mode.name} says which of several.`,
      'both',
      'one of them',
    );
  }
  return onlyProvider(config, named.value);
}

function onlyProvider(config: EmbeddingConfig, name: string): EmbeddingConfig {
  if (name === 'disabled') return { ...config, mode: 'disabled' };
  const configured = [config.local, config.cloud].find((candidate) => candidate?.provider === name);
  return { ...config, mode: 'local', local: configured ?? { provider: name }, cloud: undefined };
}

/** A prefix may be empty: nothing is put before the texts. */
function anyText(): Field<string>['form'] {
  const form = text('a text');
  return { ...form, read: (value, name) => (value === '' ? '' : form.read(value, name)) };
}
