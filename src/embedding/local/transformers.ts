import { basename, dirname, join } from 'node:path';
import { PalimpsestError } from '../../core/errors.ts';
import type { EmbeddingProvider } from '../../core/ports.ts';
import { modelFacts, type Prefixes, prefixesFor } from '../known-models.ts';
import type { LongTextOptions } from '../long-text.ts';
import { invalidOption, oneOf, wholeNumber } from '../option-checks.ts';
import { variantId } from '../variant.ts';
import { localProvider } from './local-provider.ts';
import {
  checkDimensions,
  filesHash,
  firstCount,
  folderError,
  idWord,
  modelFile,
  modelFolder,
  modelJson,
  optionalJson,
} from './model-folder.ts';
import { requirePackages } from './optional-package.ts';

/** Number formats of weights, each with the end of the file name that Transformers.js looks for. */
const WEIGHT_FILES = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
} as const;
export type WeightFormat = keyof typeof WEIGHT_FILES;
const WEIGHT_FORMATS: readonly WeightFormat[] = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16'];

const POOLINGS = ['mean', 'cls', 'last_token'] as const;
export type Pooling = (typeof POOLINGS)[number];

/** A model under Transformers.js and ONNX Runtime, from a folder of this machine. */
export interface TransformersOptions extends LongTextOptions {
  /** Folder with `config.json`, `tokenizer.json` and `onnx/model*.onnx`, as models are published for Transformers.js. */
  readonly modelFolder?: string | undefined;
  /**
   * Instead of a folder, a model of the Hugging Face hub, such as `Xenova/all-MiniLM-L6-v2`, which is downloaded
   * when it is first used. Only with `allowRemote`.
   */
  readonly model?: string | undefined;
  /** Default false: nothing is ever downloaded. */
  readonly allowRemote?: boolean | undefined;
  /** Number format of the weights, default `fp32`. `q8` is a quarter of the size. */
  readonly dtype?: WeightFormat | undefined;
  /** How the vectors of tokens become one. Default: what the folder's `1_Pooling/config.json` says, else `mean`. */
  readonly pooling?: Pooling | undefined;
  /** Length of the vectors. Default: the model's own; for a remote model that is not known it must be given. */
  readonly dimensions?: number | undefined;
  /** Tokens the model reads of one text, 16 or more. Default: the model's own. */
  readonly maxTokens?: number | undefined;
  /** What is put before documents and queries. Default: what the model was trained with, where it is known. */
  readonly prefixes?: Partial<Prefixes> | undefined;
  /**
   * Texts of one forward pass, 1 or more, default 1. More are faster on many cores, but with quantised weights a text's
   * vector then depends a little on its neighbours.
   */
  readonly batchSize?: number | undefined;
  /** Longest time for one forward pass, ms, 1 or more, default 60,000, the loading of the model included. */
  readonly timeoutMs?: number | undefined;
}

export interface TransformersParts {
  /** What is imported as Transformers.js. Default: the package of that name, which then must be installed. */
  readonly packageName?: string | undefined;
}

const PACKAGE = { name: '@huggingface/transformers', version: { from: '4.3.2' } } as const;
const FALLBACK_MAX_TOKENS = 512;

/** A model with all that has to be known before it is loaded. */
interface DescribedModel {
  /** Name or folder, for prefixes and errors. */
  readonly name: string;
  readonly root: string | null;
  readonly idBase: string;
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly pooling: Pooling;
}

/**
 * @throws PalimpsestError `invalid_config` where the package is not installed, for a folder without a whole model, and
 *   for a remote model that was not allowed
 */
export function createTransformersProvider(
  options: TransformersOptions,
  parts: TransformersParts = {},
): EmbeddingProvider {
  if (parts.packageName === undefined) requirePackages([PACKAGE], 'The embedding provider transformers');
  const dtype = oneOf('dtype', options.dtype ?? 'fp32', WEIGHT_FORMATS);
  const model = describedModel(options, dtype);
  const maxTokens = wholeNumber('maxTokens', options.maxTokens ?? model.maxTokens, 16);
  const pooling = oneOf('pooling', options.pooling ?? model.pooling, POOLINGS);
  const prefixes = prefixesFor(model.name, options.prefixes);
  const usual = {
    prefixes: prefixesFor(model.name, undefined),
    longText: {},
    maxTokens: model.maxTokens,
  };
  return localProvider({
    modelId: variantId(
      pooling === model.pooling ? model.idBase : `${model.idBase}-${pooling}`,
      { prefixes, longText: options, maxTokens },
      usual,
    ),
    dimensions: model.dimensions,
    prefixes,
    textsPerMessage: wholeNumber('batchSize', options.batchSize ?? 1, 1),
    timeoutMs: options.timeoutMs,
    spec: {
      engine: 'transformers',
      modelRoot: model.root,
      model: model.root === null ? model.name : basename(model.name),
      allowRemote: model.root === null,
      dtype,
      pooling,
      maxTokens,
      longText: options,
      packageName: parts.packageName ?? PACKAGE.name,
    },
  });
}

function describedModel(options: TransformersOptions, dtype: WeightFormat): DescribedModel {
  if (options.modelFolder !== undefined) return modelOfFolder(options.modelFolder, options.dimensions, dtype);
  if (options.model === undefined)
    throw invalidOption('modelFolder', 'missing', 'a folder with a model in it');
  if (options.allowRemote !== true) {
    throw new PalimpsestError(
      'invalid_config',
      `The model ${options.model} would be downloaded, which is not allowed. Give its folder, or allow remote models.`,
      {
        details: [
          { path: 'embedding.model', got: options.model, allowed: 'modelFolder, or allowRemote: true' },
        ],
      },
    );
  }
  return remoteModel(options.model, options.dimensions, dtype);
}

function remoteModel(name: string, configured: number | undefined, dtype: WeightFormat): DescribedModel {
  const facts = modelFacts(name);
  const dimensions = configured ?? facts.dimensions;
  if (dimensions === undefined) {
    throw invalidOption('dimensions', 'missing', `the number of dimensions of ${name}, which is not known`);
  }
  return {
    name,
    root: null,
    idBase: `transformers/${name}-${dtype}/${dimensions}`,
    dimensions,
    maxTokens: facts.maxTokens ?? FALLBACK_MAX_TOKENS,
    pooling: 'mean',
  };
}

function modelOfFolder(path: string, configured: number | undefined, dtype: WeightFormat): DescribedModel {
  const folder = modelFolder(path);
  const config = modelJson(folder, 'config.json');
  modelJson(folder, 'tokenizer.json');
  const weights = modelFile(folder, [join('onnx', `model${WEIGHT_FILES[dtype]}.onnx`)]);
  const dimensions = firstCount(config, ['hidden_size', 'd_model', 'dim']);
  if (dimensions === null) {
    throw folderError(`The config.json in ${folder} names no hidden_size.`, 'none', 'a whole number');
  }
  checkDimensions(folder, dimensions, configured);
  return {
    name: folder,
    root: dirname(folder),
    idBase: `transformers/${idWord(basename(folder))}-${dtype}-${filesHash([weights])}/${dimensions}`,
    dimensions,
    maxTokens: tokensRead(folder, config),
    pooling: poolingOf(folder),
  };
}

/** What a sentence model was trained with, else what its tokenizer or its positions allow. */
function tokensRead(folder: string, config: Readonly<Record<string, unknown>>): number {
  const sentence = optionalJson(folder, 'sentence_bert_config.json') ?? {};
  const tokenizer = optionalJson(folder, 'tokenizer_config.json') ?? {};
  const counts = [
    firstCount(sentence, ['max_seq_length']),
    // Tokenizers without a limit name one of 10^30.
    firstCount(tokenizer, ['model_max_length']),
    firstCount(config, ['max_position_embeddings', 'n_positions']),
  ];
  return counts.find((count) => count !== null) ?? FALLBACK_MAX_TOKENS;
}

function poolingOf(folder: string): Pooling {
  const pooling = optionalJson(folder, join('1_Pooling', 'config.json')) ?? {};
  if (pooling.pooling_mode_cls_token === true) return 'cls';
  return pooling.pooling_mode_lasttoken === true ? 'last_token' : 'mean';
}
