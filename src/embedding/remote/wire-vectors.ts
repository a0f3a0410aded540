import { type ErrorDetail, excerpt, PalimpsestError } from '../../core/errors.ts';

/**
 * A vector as services send it: a list of numbers, or base64 of their little-endian float32 bytes, whichever
 * form was asked for. How long it is and whether it can be compared is `checkedProvider`'s to say.
 *
 * @throws PalimpsestError `embedding_failed` for anything else
 */
export function wireVector(value: unknown, item: number): Float32Array {
  if (typeof value === 'string') return base64Vector(value, item);
  if (Array.isArray(value)) return listVector(value, item);
  throw badVector(`sent ${excerpt(value)} as the vector of text ${item}`, value);
}

function listVector(values: readonly unknown[], item: number): Float32Array {
  const vector = new Float32Array(values.length);
  for (const [index, value] of values.entries()) {
    // Typed arrays take null for 0 and "7" for 7.
    if (typeof value !== 'number') {
      throw badVector(`sent ${excerpt(value)} in dimension ${index} of text ${item}`, value);
    }
    vector[index] = value;
  }
  return vector;
}

const FLOAT_BYTES = 4;

function base64Vector(text: string, item: number): Float32Array {
  // Buffer.from skips what is not base64, and would make another vector of it.
  const bytes = /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  if (bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0) {
    throw badVector(`sent a text that is not base64 of 4-byte numbers for text ${item}`, text);
  }
  return Float32Array.from({ length: bytes.length / FLOAT_BYTES }, (_, index) =>
    bytes.readFloatLE(index * FLOAT_BYTES),
  );
}

function badVector(what: string, got: unknown): PalimpsestError {
  return badAnswer(what, {
    got: excerpt(got),
    allowed: 'a list of numbers, or base64 of little-endian float32',
  });
}

/** The error for an answer that the configured kind of service never gives. */
export function badAnswer(what: string, detail: ErrorDetail = {}): PalimpsestError {
  return new PalimpsestError('embedding_failed', `The embedding service ${what}.`, {
    details: [
      {
        hint: 'Nothing was stored or searched. Check that the base URL is that of a service of the configured kind.',
        ...detail,
      },
    ],
  });
}

/** The list under a name of an answer. @throws PalimpsestError `embedding_failed` where there is none */
export function answeredList(answer: unknown, name: string): readonly unknown[] {
  const list = isRecord(answer) ? answer[name] : undefined;
  if (Array.isArray(list)) return list;
  throw badAnswer(`sent no list "${name}"`, {
    path: name,
    got: excerpt(isRecord(answer) ? list : answer),
    allowed: 'a list',
  });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
