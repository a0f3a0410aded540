import { MAX_EMBEDDING_DIMENSIONS } from '../core/defaults.ts';
import { type ErrorDetail, excerpt, PalimpsestError } from '../core/errors.ts';
import type { EmbeddingProvider, EmbeddingPurpose, EmbedOptions } from '../core/ports.ts';

/**
 * Wraps a provider so that whatever it answers is either good for storing and comparing, or an error. One bad
 * vector refuses the whole call: a vector dropped or replaced in silence is a memory nobody finds again.
 *
 * Vectors come out at unit length. Cosine similarity does not read the length, but pgvector sums squares in
 * single precision, where a vector of 1e-30 gives 0 / 0 and one of 1e30 gives infinity; its direction is
 * sound, so it is kept rather than refused. Vectors of unit length pass as they are, without a copy.
 *
 * @throws PalimpsestError `invalid_config` when the provider's own `modelId` or `dimensions` can not be. The
 *   wrapped `embed` rejects with `embedding_failed`.
 */
export function checkedProvider(inner: EmbeddingProvider): EmbeddingProvider {
  const { modelId, dimensions } = inner;
  requireModelId(modelId);
  requireDimensions(modelId, dimensions);
  return {
    modelId,
    dimensions,
    async embed(texts, purpose, options) {
      if (texts.length === 0) return [];
      const answer = await innerAnswer(inner, texts, purpose, options);
      return checkedAnswer(answer, texts.length, { modelId, dimensions });
    },
    async close() {
      await inner.close?.();
    },
  };
}

interface Model {
  readonly modelId: string;
  readonly dimensions: number;
}

const MAX_MODEL_ID_LENGTH = 200;
/** Printable, without spaces: it is a key in the database and a word in traces and logs. */
const MODEL_ID = /^[!-~]+$/;

function requireModelId(modelId: unknown): void {
  if (typeof modelId === 'string' && modelId.length <= MAX_MODEL_ID_LENGTH && MODEL_ID.test(modelId)) return;
  throw new PalimpsestError('invalid_config', `An embedding provider has the model id ${excerpt(modelId)}.`, {
    details: [
      {
        path: 'modelId',
        got: excerpt(modelId),
        allowed: `1 to ${MAX_MODEL_ID_LENGTH} visible ASCII characters, such as "hashing-512-v1"`,
      },
    ],
  });
}

function requireDimensions(modelId: string, dimensions: unknown): void {
  const isCount = typeof dimensions === 'number' && Number.isInteger(dimensions) && dimensions >= 1;
  if (isCount && dimensions <= MAX_EMBEDDING_DIMENSIONS) return;
  throw new PalimpsestError(
    'invalid_config',
    `The embedding model ${modelId} says it has ${excerpt(dimensions)} dimensions.`,
    {
      details: [
        {
          path: 'dimensions',
          got: excerpt(dimensions),
          allowed: `a whole number from 1 to ${MAX_EMBEDDING_DIMENSIONS}`,
        },
      ],
    },
  );
}

/** The provider's answer as it is: a promise of anything, since nothing is known about it yet. */
async function innerAnswer(
  inner: EmbeddingProvider,
  texts: readonly string[],
  purpose: EmbeddingPurpose,
  options: EmbedOptions | undefined,
): Promise<unknown> {
  try {
    return await inner.embed(texts, purpose, options);
  } catch (error) {
    // Who gave the call up knows why, by the reason of its own signal.
    if (PalimpsestError.isInstance(error) || options?.signal?.aborted) throw error;
    const reason = error instanceof Error ? error.message : excerpt(error);
    throw new PalimpsestError('embedding_failed', `The embedding model ${inner.modelId} failed: ${reason}`, {
      details: [{ hint: 'Nothing was stored or searched. Ask again, or check the embedding provider.' }],
      cause: error,
    });
  }
}

function checkedAnswer(answer: unknown, count: number, model: Model): (Float32Array | null)[] {
  if (!Array.isArray(answer)) {
    throw badAnswer(model, `answered ${excerpt(answer)}`, {
      got: excerpt(answer),
      allowed: 'a list of vectors',
    });
  }
  if (answer.length !== count) {
    throw badAnswer(model, `answered ${answer.length} vectors for ${count} texts`, {
      got: answer.length,
      allowed: count,
    });
  }
  // Array.from visits the holes of a sparse array, which map would skip.
  return Array.from(answer, (vector: unknown, item) => checkedVector(vector, item, model));
}

function checkedVector(vector: unknown, item: number, model: Model): Float32Array | null {
  if (vector === null) return null;
  if (!(vector instanceof Float32Array)) {
    throw badAnswer(model, `answered ${excerpt(vector)} for text ${item}`, {
      got: excerpt(vector),
      allowed: 'a Float32Array, or null for a text without anything to embed',
    });
  }
  if (vector.length !== model.dimensions) {
    throw badAnswer(model, `answered ${vector.length} dimensions for text ${item}`, {
      got: vector.length,
      allowed: model.dimensions,
      hint: 'Configure the dimensions the model really has.',
    });
  }
  return unitLength(vector, item, model);
}

/** Length squared of a unit vector whose components were rounded to single precision, give or take this. */
const UNIT_TOLERANCE = 1e-6;

function unitLength(vector: Float32Array, item: number, model: Model): Float32Array {
  let squares = 0;
  // In double precision the square of any finite float32 is finite, and that of any but 0 is above 0.
  for (const component of vector) squares += component * component;
  if (!Number.isFinite(squares)) {
    const place = vector.findIndex((component) => !Number.isFinite(component));
    const got = String(vector[place]);
    throw badAnswer(model, `answered ${got} in dimension ${place} for text ${item}`, {
      got,
      allowed: 'finite numbers',
    });
  }
  if (squares === 0) {
    throw badAnswer(model, `answered a vector of zeros for text ${item}`, {
      got: 'only zeros',
      allowed: 'a vector with a direction, or null for a text without anything to embed',
    });
  }
  if (Math.abs(squares - 1) <= UNIT_TOLERANCE) return vector;
  const length = Math.sqrt(squares);
  return vector.map((component) => component / length);
}

/** Texts are counted within one request to the model: they are no items of anybody's batch. */
function badAnswer(model: Model, what: string, detail: ErrorDetail): PalimpsestError {
  return new PalimpsestError('embedding_failed', `The embedding model ${model.modelId} ${what}.`, {
    details: [{ hint: 'Nothing was stored or searched. Check the embedding provider.', ...detail }],
  });
}
