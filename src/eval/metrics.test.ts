import { describe, expect, it } from 'vitest';
import { hitRateAtK, mrrAtK, ndcgAtK, precisionAtK, recallAtK } from './metrics.ts';

const ranking = ['a', 'b', 'c', 'd', 'e'];

describe('recallAtK', () => {
  it('is the share of the relevant entries in the first k', () => {
    // b is at place 2, e at place 5, z is not ranked.
    const relevant = new Set(['b', 'e', 'z']);
    expect(recallAtK(ranking, relevant, 1)).toBe(0);
    expect(recallAtK(ranking, relevant, 2)).toBeCloseTo(1 / 3, 12);
    expect(recallAtK(ranking, relevant, 5)).toBeCloseTo(2 / 3, 12);
    expect(recallAtK(ranking, relevant, 100)).toBeCloseTo(2 / 3, 12);
  });
});

describe('hitRateAtK', () => {
  it('is 1 from the place of the first relevant entry on', () => {
    const relevant = new Set(['c', 'e']);
    expect([1, 2, 3, 5].map((k) => hitRateAtK(ranking, relevant, k))).toEqual([0, 0, 1, 1]);
  });
});

describe('precisionAtK', () => {
  it('divides by k even where fewer entries were returned', () => {
    // 2 of 3 places; 2 of 10, five of which are empty.
    expect(precisionAtK(ranking, new Set(['a', 'c']), 3)).toBeCloseTo(2 / 3, 12);
    expect(precisionAtK(ranking, new Set(['a', 'c']), 10)).toBeCloseTo(0.2, 12);
  });
});

describe('mrrAtK', () => {
  it('is one over the place of the first relevant entry, 0 beyond k', () => {
    expect(mrrAtK(ranking, new Set(['a', 'b']), 5)).toBe(1);
    expect(mrrAtK(ranking, new Set(['e', 'c']), 5)).toBeCloseTo(1 / 3, 12);
    expect(mrrAtK(ranking, new Set(['c']), 2)).toBe(0);
  });
});

describe('ndcgAtK', () => {
  it('discounts by the logarithm of the place and divides by the ideal order', () => {
    // Relevant at places 2 and 5: 1/log2(3) + 1/log2(6) = 0.63093 + 0.38685 = 1.01778.
    // Ideal for three relevant entries: 1 + 1/log2(3) + 1/log2(4) = 1 + 0.63093 + 0.5 = 2.13093.
    expect(ndcgAtK(ranking, new Set(['b', 'e', 'z']), 5)).toBeCloseTo(1.01778 / 2.13093, 5);
  });

  it('takes as ideal only what k places can hold', () => {
    // Three relevant entries, k = 1: one at place 1 is all there can be.
    expect(ndcgAtK(ranking, new Set(['a', 'b', 'c']), 1)).toBe(1);
  });

  it('is 0 without a relevant entry in the first k', () => {
    expect(ndcgAtK(ranking, new Set(['e']), 4)).toBe(0);
  });
});

describe('every measure', () => {
  const measures = { recallAtK, hitRateAtK, precisionAtK, mrrAtK, ndcgAtK };

  it.each(Object.entries(measures))('%s is 0 for an empty ranking', (_, measure) => {
    expect(measure([], new Set(['a']), 10)).toBe(0);
  });

  it.each(Object.entries(measures))('%s refuses what would give a meaningless number', (_, measure) => {
    expect(() => measure(ranking, new Set(), 5)).toThrow(/without relevant/);
    expect(() => measure(['a', 'a'], new Set(['a']), 5)).toThrow(/twice/);
    for (const k of [0, -1, 1.5, Number.NaN])
      expect(() => measure(ranking, new Set(['a']), k)).toThrow(/k is/);
  });
});
