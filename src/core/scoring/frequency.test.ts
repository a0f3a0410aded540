import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frequency, frequencyCount } from './frequency.ts';

describe('frequency: min(1, ln(1 + n) / ln(1 + saturation))', () => {
  test.each([
    { count: 0, saturation: 100, value: 0 },
    // ln 2 / ln 101 = 0.693147 / 4.615121
    { count: 1, saturation: 100, value: 0.15019 },
    // ln 11 / ln 101 = 2.397895 / 4.615121
    { count: 10, saturation: 100, value: 0.519574 },
    { count: 100, saturation: 100, value: 1 },
    { count: 101, saturation: 100, value: 1 },
    { count: 1, saturation: 1, value: 1 },
    // ln 4 / ln 16 = 2 ln 2 / 4 ln 2
    { count: 3, saturation: 15, value: 0.5 },
  ])('$count uses of $saturation: $value', ({ count, saturation, value }) => {
    expect(frequency({ count, saturation })).toBeCloseTo(value, 5);
  });

  test('is in [0, 1] and never falls with more use', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 10_000 }), (a, b, saturation) => {
        const less = frequency({ count: Math.min(a, b), saturation });
        const more = frequency({ count: Math.max(a, b), saturation });
        expect(less).toBeGreaterThanOrEqual(0);
        expect(less).toBeLessThanOrEqual(more);
        expect(more).toBeLessThanOrEqual(1);
      }),
    );
  });
});

test('a profile chooses the counter', () => {
  const counts = { accessCount: 7, validatedAccessCount: 3 };
  expect(frequencyCount({ frequencySource: 'access_count' }, counts)).toBe(7);
  expect(frequencyCount({ frequencySource: 'validated_access_count' }, counts)).toBe(3);
});
