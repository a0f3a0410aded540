import type { EmbeddingPurpose } from '../core/ports.ts';

/** What is put before a text so that a model knows what it is for. Either may be empty. */
export type Prefixes = Readonly<Record<EmbeddingPurpose, string>>;

/** What is known of a model by its name. What is missing has to be configured. */
export interface ModelFacts {
  readonly dimensions?: number;
  /** Tokens it reads of one text. */
  readonly maxTokens?: number;
  readonly prefixes?: Prefixes;
  /** Its tokens can be counted exactly. */
  readonly encoding?: 'cl100k_base';
  /** It makes shorter vectors when asked to (`dimensions` in the request). */
  readonly canShorten?: boolean;
}

const SEARCHING_PASSAGES: Prefixes = {
  document: '',
  query: 'Represent this sentence for searching relevant passages: ',
};

/**
 * What the makers' documentation says of well-known models. The first line whose expression fits the model's name
 * counts, so narrower names stand first.
 */
const KNOWN_MODELS: readonly (readonly [name: RegExp, facts: ModelFacts])[] = [
  [
    /^text-embedding-3-small$/,
    { dimensions: 1536, maxTokens: 8191, encoding: 'cl100k_base', canShorten: true },
  ],
  [
    /^text-embedding-3-large$/,
    { dimensions: 3072, maxTokens: 8191, encoding: 'cl100k_base', canShorten: true },
  ],
  [/^text-embedding-ada-002$/, { dimensions: 1536, maxTokens: 8191, encoding: 'cl100k_base' }],
  [
    /nomic-embed-text/,
    {
      dimensions: 768,
      maxTokens: 2048,
      prefixes: { document: 'search_document: ', query: 'search_query: ' },
    },
  ],
  [
    /embedding-?gemma/,
    {
      dimensions: 768,
      maxTokens: 2048,
      prefixes: { document: 'title: none | text: ', query: 'task: search result | query: ' },
    },
  ],
  [/arctic-embed2|arctic-embed-.*v2/, { maxTokens: 8192, prefixes: { document: '', query: 'query: ' } }],
  [/arctic-embed/, { maxTokens: 512, prefixes: SEARCHING_PASSAGES }],
  [/mxbai-embed-large/, { dimensions: 1024, maxTokens: 512, prefixes: SEARCHING_PASSAGES }],
  [/bge-m3/, { dimensions: 1024, maxTokens: 8192 }],
  [/bge-small-en/, { dimensions: 384, maxTokens: 512, prefixes: SEARCHING_PASSAGES }],
  [/bge-base-en/, { dimensions: 768, maxTokens: 512, prefixes: SEARCHING_PASSAGES }],
  [/bge-large-en/, { dimensions: 1024, maxTokens: 512, prefixes: SEARCHING_PASSAGES }],
  [/all-minilm-l6|all-minilm(:|$)/, { dimensions: 384, maxTokens: 256 }],
  [
    /e5-.*instruct/,
    {
      maxTokens: 512,
      prefixes: {
        document: '',
        query:
          'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ',
      },
    },
  ],
  [
    /(^|[/_-])e5-(small|base|large)/,
    { maxTokens: 512, prefixes: { document: 'passage: ', query: 'query: ' } },
  ],
  [
    /qwen3-embedding/,
    {
      maxTokens: 8192,
      prefixes: {
        document: '',
        query: 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:',
      },
    },
  ],
];

/** What is known of the model of this name; nothing for a name that is not known. */
export function modelFacts(model: string): ModelFacts {
  const name = model.toLowerCase();
  return KNOWN_MODELS.find(([pattern]) => pattern.test(name))?.[1] ?? {};
}

/** What is configured, and for the rest what the model was trained with. An empty prefix is a value. */
export function prefixesFor(model: string, configured: Partial<Prefixes> | undefined): Prefixes {
  const { prefixes } = modelFacts(model);
  return {
    document: configured?.document ?? prefixes?.document ?? '',
    query: configured?.query ?? prefixes?.query ?? '',
  };
}
