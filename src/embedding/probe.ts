import { PalimpsestError } from '../core/errors.ts';
import type { EmbeddingProvider } from '../core/ports.ts';

/** A text that every language model knows something about. It never changes: its vectors are compared over time. */
const PROBE_TEXT = 'The lighthouse keeper wrote the weather into her journal every evening.';
/** Something else, to stand beside it in a call. */
const OTHER_TEXT = 'Invoices are sent on the first day of the month.';

/**
 * Least cosine between two vectors of one text by one model. Services compute in half precision and on changing
 * hardware, which moves a vector by less than 0.001; another model, another prefix or another pooling gives less
 * than 0.9.
 */
const SAME_MODEL_COSINE = 0.995;
/** Two different texts nearer than this are the mark of a service that does not read them. */
const SAME_TEXT_COSINE = 0.9999;

/** A provider that works, and what tells its model from another one of the same name. */
export interface Probe {
  readonly modelId: string;
  /** The vector of a fixed text, unit length. Keep it, and compare the next start's with it. */
  readonly fingerprint: Float32Array;
}

/**
 * Asks a provider, not one behind a cache, for vectors of known texts, in three calls and two orders, and checks that they can be searched by:
 * the same text has the same vector each time, whatever stands beside it, and two texts have two.
 *
 * @param known the fingerprint of an earlier probe of the same model id, where there is one
 * @throws PalimpsestError `embedding_failed` for a provider that does not answer, whose vectors change between
 *   calls, or whose model is not the one of the earlier probe
 */
export async function probeProvider(
  provider: EmbeddingProvider,
  options: { readonly known?: Float32Array | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<Probe> {
  const { modelId } = provider;
  const { known, signal } = options;
  const vectorsOf = async (texts: readonly string[]) => {
    const vectors = await provider.embed(texts, 'document', { signal });
    return texts.map((_, item) => vectors[item] ?? noVector(modelId));
  };
  // One after another: at one time they would be put together into one call.
  const [alone = noVector(modelId)] = await vectorsOf([PROBE_TEXT]);
  const [besides, other] = await vectorsOf([PROBE_TEXT, OTHER_TEXT]);
  const [turnedOther, turned] = await vectorsOf([OTHER_TEXT, PROBE_TEXT]);
  requireSame(modelId, alone, [besides, turned]);
  requireSame(modelId, other ?? noVector(modelId), [turnedOther]);
  if (cosine(alone, other) > SAME_TEXT_COSINE) {
    throw probeError(modelId, 'gives different texts one vector, so that nothing could be found by it');
  }
  if (known !== undefined) requireKnown(modelId, alone, known);
  return { modelId, fingerprint: alone };
}

function requireSame(
  modelId: string,
  vector: Float32Array,
  again: readonly (Float32Array | undefined)[],
): void {
  const least = Math.min(...again.map((other) => cosine(vector, other)));
  if (least >= SAME_MODEL_COSINE) return;
  throw probeError(
    modelId,
    `gives one text different vectors (cosine ${least.toFixed(4)} between two calls, at least ${SAME_MODEL_COSINE} expected)`,
  );
}

function requireKnown(modelId: string, vector: Float32Array, known: Float32Array): void {
  const similarity = vector.length === known.length ? cosine(vector, known) : 0;
  if (similarity >= SAME_MODEL_COSINE) return;
  throw probeError(
    modelId,
    `is not the model it was (cosine ${similarity.toFixed(4)} to its earlier vector): stored vectors can't be compared with new ones`,
    'Configure the model that was used before, or give this one a modelId of its own and re-embed.',
  );
}

/** Of unit vectors. 0 where one is missing. */
function cosine(left: Float32Array, right: Float32Array | undefined): number {
  return right === undefined ? 0 : left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
}

function noVector(modelId: string): never {
  throw probeError(modelId, 'finds nothing to embed in a plain English sentence');
}

function probeError(
  modelId: string,
  what: string,
  hint = 'Check what answers for this model.',
): PalimpsestError {
  return new PalimpsestError('embedding_failed', `The embedding model ${modelId} ${what}.`, {
    details: [{ path: 'embedding', got: modelId, hint }],
  });
}
