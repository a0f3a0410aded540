import { PalimpsestError } from '../../core/errors.ts';
import { planText, type TextPlan, weightedMean } from '../long-text.ts';
import type { EngineAnswer, LocalEngine, TransformersSpec } from './engine.ts';
import { exportedFunction, importPackage } from './optional-package.ts';

/**
 * A model under Transformers.js and ONNX Runtime. Its `run` holds the thread it is called in, so that it belongs into
 * a worker as much as the other engine does.
 */
export async function loadTransformersEngine(spec: TransformersSpec): Promise<LocalEngine> {
  const exported = await importPackage(spec.packageName);
  configure(exported.env, spec);
  const extractor = callable(
    await exportedFunction(exported, 'pipeline')('feature-extraction', spec.model, {
      dtype: spec.dtype,
      local_files_only: !spec.allowRemote,
    }),
  );
  const tokenizer = callable(Reflect.get(extractor, 'tokenizer'));
  const countAll = (text: string) => tokenCount(tokenizer(text, { truncation: false }));
  const tokensAdded = countAll('');
  const room = Math.max(1, spec.maxTokens - tokensAdded);
  const embedPieces = async (pieces: readonly string[]) =>
    rowsOf(await extractor(pieces, { pooling: spec.pooling, normalize: true }), pieces.length);

  return {
    async embed(texts) {
      const plans = texts.map((text) =>
        planText(text, room, (piece) => countAll(piece) - tokensAdded, spec.longText),
      );
      const rows = await embedPieces(plans.flatMap(({ pieces }) => pieces));
      return putTogether(plans, rows);
    },
  };
}

function putTogether(plans: readonly TextPlan[], rows: readonly Float32Array[]): EngineAnswer[] {
  let next = 0;
  return plans.map(({ pieces, weights, coverage }) => {
    const own = rows.slice(next, next + pieces.length);
    next += pieces.length;
    return { vector: weightedMean(own, weights), coverage };
  });
}

/** Remote models stay off unless they were asked for: a server's texts and its start must not hang on a hub. */
function configure(env: unknown, { modelRoot, allowRemote }: TransformersSpec): void {
  if (typeof env !== 'object' || env === null) throw unexpected('exports no env');
  Object.assign(env, { allowRemoteModels: allowRemote, allowLocalModels: true });
  if (modelRoot !== null) Object.assign(env, { localModelPath: modelRoot });
}

type Callable = (...values: unknown[]) => unknown;

/** Not wrapped into another function: the pipeline carries its tokenizer as a property. */
function callable(value: unknown): Callable {
  if (isCallable(value)) return value;
  throw unexpected('made no pipeline with a tokenizer');
}

function isCallable(value: unknown): value is Callable {
  return typeof value === 'function';
}

/** Transformers.js gives tensors, whose last dimension is the number of tokens. */
function tokenCount(encoded: unknown): number {
  const ids: unknown =
    typeof encoded === 'object' && encoded !== null ? Reflect.get(encoded, 'input_ids') : undefined;
  const { dims } = tensor(ids);
  return Number(dims.at(-1) ?? 0);
}

function rowsOf(output: unknown, count: number): Float32Array[] {
  const { dims, data } = tensor(output);
  const [rows, dimensions] = dims.map(Number);
  if (!(data instanceof Float32Array) || rows !== count || dimensions === undefined) {
    throw unexpected(`answered a tensor of ${dims.join(' × ')} for ${count} texts`);
  }
  return Array.from({ length: rows }, (_, row) => data.slice(row * dimensions, (row + 1) * dimensions));
}

function tensor(value: unknown): { readonly dims: readonly unknown[]; readonly data: unknown } {
  if (typeof value === 'object' && value !== null && 'dims' in value && 'data' in value) {
    const { dims, data } = value;
    if (Array.isArray(dims)) return { dims, data };
  }
  throw unexpected('answered no tensor');
}

function unexpected(what: string): PalimpsestError {
  return new PalimpsestError('embedding_failed', `Transformers.js ${what}.`, {
    details: [{ hint: 'Install the version of @huggingface/transformers that this server names.' }],
  });
}
