import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cosineSimilarity, similarityFromDistance } from './similarity.ts';

const vector = (...values: number[]) => Float32Array.from(values);

describe('similarityFromDistance: 1 - cosine distance, in [0, 1]', () => {
  test.each([
    { distance: 0, similarity: 1, meaning: 'the same direction' },
    { distance: 0.25, similarity: 0.75, meaning: 'near' },
    { distance: 1, similarity: 0, meaning: 'orthogonal' },
    { distance: 1.4, similarity: 0, meaning: 'obtuse: -0.4 is taken as 0' },
    { distance: 2, similarity: 0, meaning: 'opposite' },
    { distance: -1e-7, similarity: 1, meaning: 'a rounding error below 0' },
    { distance: Number.NaN, similarity: 0, meaning: 'pgvector about a zero vector' },
    { distance: null, similarity: 0, meaning: 'no vector' },
  ])('$distance → $similarity ($meaning)', ({ distance, similarity }) => {
    expect(similarityFromDistance(distance)).toBe(similarity);
  });
});

describe('cosineSimilarity', () => {
  test('(3, 4) and (4, 3): (12 + 12) / (5 × 5) = 0.96', () => {
    expect(cosineSimilarity(vector(3, 4), vector(4, 3))).toBeCloseTo(0.96, 12);
  });

  test('the identical vector outranks the orthogonal one, and the opposite one is worth nothing', () => {
    const query = vector(0.6, 0.8);
    expect(cosineSimilarity(query, query)).toBeCloseTo(1, 12);
    expect(cosineSimilarity(query, vector(-0.8, 0.6))).toBeCloseTo(0, 7);
    expect(cosineSimilarity(query, vector(-0.6, -0.8))).toBe(0);
  });

  test.each([
    { name: 'different lengths', a: vector(1, 0), b: vector(1, 0, 0) },
    { name: 'empty', a: vector(), b: vector() },
    { name: 'a zero vector', a: vector(0, 0), b: vector(1, 0) },
    { name: 'two zero vectors', a: vector(0, 0), b: vector(0, 0) },
    { name: 'NaN inside', a: vector(Number.NaN, 1), b: vector(1, 1) },
    { name: 'an infinite component', a: vector(Number.POSITIVE_INFINITY, 1), b: vector(1, 1) },
  ])('$name: 0, never NaN', ({ a, b }) => {
    expect(cosineSimilarity(a, b)).toBe(0);
  });

  test('neither tiny nor huge components under- or overflow', () => {
    expect(cosineSimilarity(vector(1e-30, 0), vector(1e-30, 0))).toBeCloseTo(1, 12);
    expect(cosineSimilarity(vector(3e38, 3e38), vector(3e38, 3e38))).toBeCloseTo(1, 12);
  });

  const components = fc.array(fc.float({ noNaN: true, min: -100, max: 100 }), { minLength: 3, maxLength: 3 });

  test('always in [0, 1] and symmetric', () => {
    fc.assert(
      fc.property(components, components, (left, right) => {
        const [a, b] = [Float32Array.from(left), Float32Array.from(right)];
        const similarity = cosineSimilarity(a, b);
        expect(similarity).toBeGreaterThanOrEqual(0);
        expect(similarity).toBeLessThanOrEqual(1);
        expect(cosineSimilarity(b, a)).toBe(similarity);
      }),
    );
  });

  test('leaves its arguments as they are', () => {
    const [a, b] = [vector(3, 4), vector(4, 3)];
    cosineSimilarity(a, b);
    expect([a, b]).toEqual([vector(3, 4), vector(4, 3)]);
  });
});
