import { describe, expect, test } from 'vitest';
import { keepWithinBudget } from './token-budget.ts';

/** Items of the given sizes; a whole is their sum plus `extra` for each seam between two of them. */
function keep(sizes: readonly number[], budget: number, extra = 0) {
  let counts = 0;
  const { kept, leftOut, tokenCount } = keepWithinBudget({
    items: sizes.map((size) => ({ size })),
    budget,
    estimate: ({ size }) => size,
    countWhole: (some) => {
      counts += 1;
      return some.reduce((sum, { size }) => sum + size, 0) + extra * Math.max(0, some.length - 1);
    },
  });
  return { kept: kept.map(({ size }) => size), leftOut: leftOut.map(({ size }) => size), tokenCount, counts };
}

describe('keepWithinBudget', () => {
  test('an item that is too large is skipped, not a wall', () => {
    expect(keep([30, 100, 20, 40, 10], 65)).toMatchObject({
      // 30 fits; 30 + 100 doesn't; 50 fits; 90 doesn't; 60 fits.
      kept: [30, 20, 10],
      leftOut: [100, 40],
      tokenCount: 60,
    });
  });

  test('the budget may be used up exactly', () => {
    expect(keep([30, 20], 50)).toMatchObject({ kept: [30, 20], leftOut: [], tokenCount: 50 });
    expect(keep([30, 20], 49)).toMatchObject({ kept: [30], leftOut: [20], tokenCount: 30 });
  });

  test('a budget of 0 keeps nothing, and no item needs one', () => {
    expect(keep([1, 2], 0)).toMatchObject({ kept: [], leftOut: [1, 2], tokenCount: 0 });
    expect(keep([], 0)).toMatchObject({ kept: [], leftOut: [], tokenCount: 0 });
  });

  test('estimates that are too high keep nothing out', () => {
    // 10 items of 10, one token less for each seam: 100 − 9 = 91.
    expect(keep(Array(10).fill(10), 91, -1)).toMatchObject({ leftOut: [], tokenCount: 91 });
    expect(keep(Array(10).fill(10), 90, -1)).toMatchObject({ leftOut: [10], tokenCount: 82 });
  });

  test('estimates that are too low do not break the budget: the lowest ranked goes', () => {
    // Judged by themselves 10 + 20 + 30 fit into 60; with 5 for each seam they take 70.
    expect(keep([10, 20, 30], 60, 5)).toMatchObject({ kept: [10, 20], leftOut: [30], tokenCount: 35 });
  });

  test('the whole is counted a few times, not once for each item', () => {
    const items = Array(200).fill(100);
    expect(keep(items, 5000).counts).toBe(1);
    expect(keep(items, 20_000).counts).toBe(1);
    expect(keep(items, 5000, -1).counts).toBeLessThan(5);
  });
});
