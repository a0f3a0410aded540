import { basename } from 'node:path';
import type { EmbeddingProvider } from '../../core/ports.ts';
import { type Prefixes, prefixesFor } from '../known-models.ts';
import type { LongTextOptions } from '../long-text.ts';
import { variantId } from '../variant.ts';
import type { BertFiles } from './engine.ts';
import { localProvider } from './local-provider.ts';
import { ENGINE_PACKAGE, MODEL_PACKAGE } from './minilm-packages.ts';
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
import { checkSafetensors } from './safetensors.ts';

/** A sentence model that runs in this process, in WebAssembly: all-MiniLM-L6-v2, or another BERT of mean pooling. */
export interface MinilmOptions extends LongTextOptions {
  /**
   * Folder with `model.safetensors`, `tokenizer.json` and `config.json` of a BERT model whose vectors are the mean
   * of its tokens' vectors. Default: all-MiniLM-L6-v2, from the package.
   */
  readonly modelFolder?: string | undefined;
  /** Length of the vectors: only to be sure of it, for it is the model's to choose. */
  readonly dimensions?: number | undefined;
  /** What is put before documents and queries. Default: what the model was trained with; nothing for MiniLM. */
  readonly prefixes?: Partial<Prefixes> | undefined;
  /** Longest time for one text, ms, 1 or more, default 60,000, the loading of the model included. */
  readonly timeoutMs?: number | undefined;
}

const PACKAGES = [
  { name: ENGINE_PACKAGE, version: { exactly: '0.2.0' } },
  { name: MODEL_PACKAGE, version: { exactly: '0.1.0' } },
] as const;

/** all-MiniLM-L6-v2, as the package's manifest describes it. */
const MINILM = { id: 'minilm-l6-v2-fp16-v1', dimensions: 384, maxTokens: 256 } as const;

/**
 * The model is loaded, in a thread of its own, when the first text comes: 0.4 to 1.3 s, 300 MB.
 *
 * @throws PalimpsestError `invalid_config` where the packages are not installed, and for a folder that holds no
 *   whole model
 */
export function createMinilmProvider(options: MinilmOptions = {}): EmbeddingProvider {
  requirePackages(PACKAGES, 'The embedding provider minilm');
  const files = options.modelFolder === undefined ? null : bertFiles(options.modelFolder);
  const { id, dimensions, maxTokens } = files ?? MINILM;
  checkDimensions(options.modelFolder ?? MODEL_PACKAGE, dimensions, options.dimensions);
  const prefixes = prefixesFor(id, options.prefixes);
  const settings = { prefixes, longText: options, maxTokens };
  return localProvider({
    modelId: variantId(id, settings, { prefixes: prefixesFor(id, undefined), longText: {}, maxTokens }),
    dimensions,
    prefixes,
    // One: a query waits for one text at most, and 24 would start a thread per core.
    textsPerMessage: 1,
    timeoutMs: options.timeoutMs,
    spec: { engine: 'minilm', files, longText: options },
  });
}

/** @throws PalimpsestError `invalid_config` for a folder that holds no whole BERT model */
function bertFiles(path: string): BertFiles & { readonly id: string } {
  const folder = modelFolder(path);
  const config = modelJson(folder, 'config.json');
  if (config.model_type !== 'bert') {
    throw folderError(
      `The model in ${folder} is not a BERT model.`,
      String(config.model_type),
      'model_type "bert"',
    );
  }
  modelJson(folder, 'tokenizer.json');
  const weightsPath = modelFile(folder, ['model.safetensors', 'model.fp16.safetensors']);
  checkSafetensors(weightsPath);
  const dimensions = firstCount(config, ['hidden_size']);
  if (dimensions === null) {
    throw folderError(`The config.json in ${folder} names no hidden_size.`, 'none', 'a whole number');
  }
  const trainedWith = firstCount(optionalJson(folder, 'sentence_bert_config.json') ?? {}, ['max_seq_length']);
  return {
    id: `bert/${idWord(basename(folder))}-${filesHash([weightsPath])}/${dimensions}`,
    weightsPath,
    tokenizerPath: modelFile(folder, ['tokenizer.json']),
    configPath: modelFile(folder, ['config.json']),
    dimensions,
    maxTokens: trainedWith ?? firstCount(config, ['max_position_embeddings']) ?? MINILM.maxTokens,
  };
}
