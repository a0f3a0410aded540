import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY, NOW } from '../../../test/helpers/candidates.ts';
import { ageInDays, recencyHalfLife, recencyShare } from './recency.ts';

describe('ageInDays', () => {
  test('is fractional: 9 h 7 min 12 s are 0.38 days', () => {
    expect(ageInDays(NOW - (9 * 3600 + 7 * 60 + 12) * 1000, NOW)).toBeCloseTo(0.38, 12);
  });

  // Case C2: `decay / (1 + age)` has its pole at an age of exactly -1 day.
  test.each([
    { name: 'one hour ahead', updatedAt: NOW + DAY / 24 },
    { name: 'exactly one day ahead', updatedAt: NOW + DAY },
    { name: 'ten days ahead', updatedAt: NOW + 10 * DAY },
    { name: 'a hundred years ahead', updatedAt: NOW + 36_525 * DAY },
  ])('C2: a time in the future counts as now ($name)', ({ updatedAt }) => {
    expect(ageInDays(updatedAt, NOW)).toBe(0);
  });

  test('C2: the year 0001 is old, not broken', () => {
    const ageDays = ageInDays(Date.parse('0001-01-01T00:00:00Z'), NOW);
    // 2025 years of 365.2425 days and 121.5 days of the year 2026.
    expect(ageDays).toBeCloseTo(2025 * 365.2425 + 121.5, -1);
    expect(recencyShare({ ageDays, decay: 0.05 })).toBeGreaterThan(0);
    expect(recencyHalfLife({ ageDays, halfLifeDays: 14 })).toBe(0);
  });
});

describe('both recencies', () => {
  const age = fc.oneof(fc.double({ min: 0, max: 1e9, noNaN: true }), fc.constant(Number.POSITIVE_INFINITY));

  test('C2: stay in their range and are finite at any age', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), (daysAgo) => {
        const ageDays = ageInDays(NOW - daysAgo * DAY, NOW);
        for (const recency of [
          recencyShare({ ageDays, decay: 1 }),
          recencyHalfLife({ ageDays, halfLifeDays: 14 }),
        ]) {
          expect(recency).toBeGreaterThanOrEqual(0);
          expect(recency).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test('never rise with age', () => {
    fc.assert(
      fc.property(age, age, (a, b) => {
        const [younger, older] = [Math.min(a, b), Math.max(a, b)];
        expect(recencyShare({ ageDays: older, decay: 0.05 })).toBeLessThanOrEqual(
          recencyShare({ ageDays: younger, decay: 0.05 }),
        );
        expect(recencyHalfLife({ ageDays: older, halfLifeDays: 14 })).toBeLessThanOrEqual(
          recencyHalfLife({ ageDays: younger, halfLifeDays: 14 }),
        );
      }),
    );
  });

  test('are 0 at an infinite age, and a decay of 0 switches the share off', () => {
    expect(recencyShare({ ageDays: Number.POSITIVE_INFINITY, decay: 0.05 })).toBe(0);
    expect(recencyHalfLife({ ageDays: Number.POSITIVE_INFINITY, halfLifeDays: 14 })).toBe(0);
    expect(recencyShare({ ageDays: 0, decay: 0 })).toBe(0);
  });

  test('halve: the share after one day, the half-life after each of its lengths', () => {
    expect(recencyShare({ ageDays: 1, decay: 0.05 })).toBe(0.025);
    expect(recencyHalfLife({ ageDays: 14, halfLifeDays: 14 })).toBe(0.5);
    expect(recencyHalfLife({ ageDays: 28, halfLifeDays: 14 })).toBe(0.25);
  });
});
