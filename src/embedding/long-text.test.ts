import { describe, expect, test } from 'vitest';
import { planText, weightedMean } from './long-text.ts';

const words = (text: string) => text.match(/\S+/g)?.length ?? 0;

describe('planning a text that may be too long', () => {
  test('a text within the limit is one piece, and is not even counted while its bytes fit', () => {
    const neverCount = () => {
      throw new Error('counted');
    };
    expect(planText('four', 4, neverCount)).toEqual({ pieces: ['four'], weights: [1], coverage: 'whole' });
    expect(planText('four words fit well', 4, words).coverage).toBe('whole');
  });

  test('a longer one is cut into parts, each with its tokens as its share', () => {
    expect(planText('one two three four five', 2, words)).toEqual({
      pieces: ['one two', ' three four', ' five'],
      weights: [2, 2, 1],
      coverage: 'chunked',
    });
  });

  test('beyond the largest number of parts it is truncated, and says so', () => {
    const plan = planText('one two three four five', 2, words, { maxChunks: 2 });
    expect(plan).toEqual({ pieces: ['one two', ' three four'], weights: [2, 2], coverage: 'truncated' });
  });

  test('truncation keeps the start alone', () => {
    const plan = planText('one two three', 2, words, { longText: 'truncate' });
    expect(plan).toEqual({ pieces: ['one two'], weights: [2], coverage: 'truncated' });
  });
});

describe('the mean of the parts', () => {
  test('is weighted by tokens and has unit length', () => {
    // 3 × (1, 0) + 4 × (0, 1) = (3, 4), of length 5.
    const mean = weightedMean([Float32Array.of(1, 0), Float32Array.of(0, 1)], [3, 4]);
    expect([...mean]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
  });

  test('of one part is that part', () => {
    const only = Float32Array.of(0.6, 0.8);
    expect(weightedMean([only], [7])).toBe(only);
  });

  test('of parts that cancel each other out is the first, never a zero vector', () => {
    const mean = weightedMean([Float32Array.of(1, 0), Float32Array.of(-1, 0)], [1, 1]);
    expect([...mean]).toEqual([1, 0]);
  });
});
