import type { TextCoverage } from '../../core/ports.ts';
import type { LongTextOptions } from '../long-text.ts';

/** A text's vector, or null where the model knows nothing of it, and how much of the text it stands for. */
export interface EngineAnswer {
  readonly vector: Float32Array | null;
  readonly coverage: TextCoverage;
}

/** A model that runs in this process. It lives in a worker thread: a forward pass takes its thread whole. */
export interface LocalEngine {
  /** One answer per text, in order. */
  embed(texts: readonly string[]): Promise<EngineAnswer[]>;
}

/** Files of a BERT model for the `minilm` engine. */
export interface BertFiles {
  readonly weightsPath: string;
  readonly tokenizerPath: string;
  readonly configPath: string;
  readonly dimensions: number;
  /** Tokens the model reads, the two it adds included. */
  readonly maxTokens: number;
}

export interface MinilmSpec {
  readonly engine: 'minilm';
  /** Null for the model of the package. */
  readonly files: BertFiles | null;
  readonly longText: LongTextOptions;
}

export interface TransformersSpec {
  readonly engine: 'transformers';
  /** Folder that holds the model's folder, and that folder's name; or the name of a remote model. */
  readonly modelRoot: string | null;
  readonly model: string;
  readonly allowRemote: boolean;
  readonly dtype: string;
  readonly pooling: 'mean' | 'cls' | 'last_token';
  /** Tokens the model reads, those it adds included. */
  readonly maxTokens: number;
  readonly longText: LongTextOptions;
  /** Name or URL under which Transformers.js is imported. */
  readonly packageName: string;
}

/** What a worker is told at its start. */
export type EngineSpec = MinilmSpec | TransformersSpec;
