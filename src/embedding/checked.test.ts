import { describe, expect, it, vi } from 'vitest';
import type { EmbeddingProvider } from '../core/ports.ts';
import { cosineSimilarity } from '../core/scoring/similarity.ts';
import { checkedProvider } from './checked.ts';

/** A provider that answers anything, as one behind a network may. */
function answering(answer: unknown, model: Partial<EmbeddingProvider> = {}): EmbeddingProvider {
  return {
    modelId: 'test-3',
    dimensions: 3,
    embed: async () => answer as (Float32Array | null)[],
    ...model,
  };
}

const good = Float32Array.of(0.6, 0, 0.8);

describe('checkedProvider refuses the whole answer', () => {
  it.each([
    ['too few vectors', [good], { got: 1, allowed: 2 }],
    ['too many vectors', [good, good, good], { got: 3, allowed: 2 }],
    ['no list', { data: [good] }, { got: 'an object' }],
    ['nothing', undefined, { got: 'undefined' }],
    ['another length', [good, Float32Array.of(1, 0)], { got: 2, allowed: 3 }, 'for text 1'],
    ['an empty vector', [new Float32Array(0), good], { got: 0, allowed: 3 }, 'for text 0'],
    ['plain numbers', [good, [0.6, 0, 0.8]], { got: 'a list' }, 'for text 1'],
    ['double precision', [Float64Array.from(good), good], { got: 'an object' }, 'for text 0'],
    ['base64 text', ['AAAA', good], { got: '"AAAA"' }, 'for text 0'],
    ['undefined for a text', [good, undefined], { got: 'undefined' }, 'for text 1'],
    // biome-ignore lint/suspicious/noSparseArray: a hole is the point
    ['a hole', [, good], { got: 'undefined' }, 'for text 0'],
    ['NaN', [good, Float32Array.of(0, Number.NaN, 0)], { got: 'NaN' }, 'for text 1'],
    ['infinity', [Float32Array.of(0, 0, Number.POSITIVE_INFINITY), good], { got: 'Infinity' }, 'for text 0'],
    [
      'minus infinity',
      [Float32Array.of(Number.NEGATIVE_INFINITY, 0, 0), good],
      { got: '-Infinity' },
      'for text 0',
    ],
    [
      'what overflows single precision',
      [Float32Array.of(1e39, 0, 0), good],
      { got: 'Infinity' },
      'for text 0',
    ],
    ['zeros', [good, new Float32Array(3)], { got: 'only zeros' }, 'for text 1'],
    ['negative zeros', [good, Float32Array.of(-0, -0, -0)], { got: 'only zeros' }, 'for text 1'],
    [
      'what underflows single precision',
      [good, Float32Array.of(1e-46, 0, 0)],
      { got: 'only zeros' },
      'for text 1',
    ],
  ])('%s', async (_, answer, detail, place = '') => {
    const provider = checkedProvider(answering(answer));
    await expect(provider.embed(['a', 'b'], 'document')).rejects.toMatchObject({
      code: 'embedding_failed',
      message: expect.stringMatching(new RegExp(`test-3.*${place}`)),
      details: [expect.objectContaining(detail)],
    });
  });

  it('names no item: its texts are those of one request, not of a batch', async () => {
    const refusal = checkedProvider(answering([good, null, new Float32Array(3)])).embed(
      ['a', '', 'c'],
      'document',
    );
    await expect(refusal).rejects.toMatchObject({
      details: [expect.not.objectContaining({ item: expect.anything() })],
    });
  });
});

describe('checkedProvider passes', () => {
  it('vectors of unit length as they are, and null', async () => {
    const [first, second] = await checkedProvider(answering([good, null])).embed(['a', ''], 'document');
    expect(first).toBe(good);
    expect(second).toBeNull();
  });

  it('other lengths brought to 1, without touching the provider’s own vector', async () => {
    const own = Float32Array.of(3, 0, 4);
    const [vector] = await checkedProvider(answering([own])).embed(['a'], 'document');
    // |(3, 0, 4)| = 5.
    expect(vector).toEqual(Float32Array.of(0.6, 0, 0.8));
    expect(own).toEqual(Float32Array.of(3, 0, 4));
  });

  it.each([1e-30, 1e-44, 1e30, 3e38])('the direction of vectors of magnitude %d', async (magnitude) => {
    const extreme = Float32Array.of(magnitude, 0, magnitude);
    const [vector] = await checkedProvider(answering([extreme])).embed(['a'], 'document');
    expect(vector).toEqual(Float32Array.of(Math.SQRT1_2, 0, Math.SQRT1_2));
    // What pgvector does, sums in single precision, is now finite and not 0.
    const squares = (vector ?? new Float32Array()).reduce(
      (sum, x) => Math.fround(sum + Math.fround(x * x)),
      0,
    );
    expect(squares).toBeCloseTo(1, 6);
    expect(cosineSimilarity(vector ?? new Float32Array(), Float32Array.of(1, 0, 0))).toBeCloseTo(
      Math.SQRT1_2,
      6,
    );
  });

  it('texts, purpose and options on to the provider', async () => {
    const embed = vi.fn(async () => [good]);
    const options = { signal: new AbortController().signal, onPartial: () => undefined };
    await checkedProvider(answering([], { embed })).embed(['a'], 'query', options);
    expect(embed).toHaveBeenCalledExactlyOnceWith(['a'], 'query', options);
  });

  it('no texts without asking the provider', async () => {
    const embed = vi.fn(async () => []);
    expect(await checkedProvider(answering([], { embed })).embed([], 'document')).toEqual([]);
    expect(embed).not.toHaveBeenCalled();
  });

  it('close on, where there is one', async () => {
    const close = vi.fn(async () => undefined);
    await checkedProvider(answering([], { close })).close?.();
    expect(close).toHaveBeenCalledOnce();
    await expect(checkedProvider(answering([])).close?.()).resolves.toBeUndefined();
  });
});

describe('errors of the provider', () => {
  const failing = (error: unknown) => checkedProvider(answering([], { embed: () => Promise.reject(error) }));

  it('become embedding_failed and keep their cause', async () => {
    const cause = new Error('socket hang up');
    await expect(failing(cause).embed(['a'], 'query')).rejects.toMatchObject({
      code: 'embedding_failed',
      message: 'The embedding model test-3 failed: socket hang up',
      cause,
    });
  });

  it('that are already ours pass as they are', async () => {
    const inner = await checkedProvider(answering([]))
      .embed(['a'], 'query')
      .catch((error: unknown) => error);
    await expect(failing(inner).embed(['a'], 'query')).rejects.toBe(inner);
  });

  it('the reason of an aborted signal passes as it is', async () => {
    const reason = new Error('client went away');
    await expect(failing(reason).embed(['a'], 'query', { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });
});

describe('a provider that can not be', () => {
  it.each([0, -1, 1.5, Number.NaN, 16_001, '512' as unknown as number])('has %s dimensions', (dimensions) => {
    expect(() => checkedProvider(answering([], { dimensions }))).toThrow(
      expect.objectContaining({
        code: 'invalid_config',
        details: [expect.objectContaining({ path: 'dimensions' })],
      }),
    );
  });

  it.each([
    '',
    ' ',
    'two words',
    'line\nbreak',
    'nul\0',
    'é',
    'x'.repeat(201),
    undefined as unknown as string,
  ])('has the model id %j', (modelId) => {
    expect(() => checkedProvider(answering([], { modelId }))).toThrow(
      expect.objectContaining({
        code: 'invalid_config',
        details: [expect.objectContaining({ path: 'modelId' })],
      }),
    );
  });

  it.each([1, 16_000])('while %d dimensions can be', (dimensions) => {
    expect(checkedProvider(answering([], { dimensions })).dimensions).toBe(dimensions);
  });
});
