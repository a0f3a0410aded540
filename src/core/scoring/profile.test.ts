import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCandidate, anyProfile, anyRules } from '../../../test/helpers/arbitraries.ts';
import { candidate, NOW, rule } from '../../../test/helpers/candidates.ts';
import { BOOSTED_PROFILE, WEIGHTED_PROFILE } from '../defaults.ts';
import type { Factor, WeightedProfile } from '../types.ts';
import { isBrowsing, profileBreakdown, profileScore } from './profile.ts';

const CONTEXT = { hasQuery: true, now: NOW };

function contributionSum(factors: readonly Factor[]): number {
  return factors.reduce((sum, { contribution }) => sum + contribution, 0);
}

describe('a breakdown', () => {
  test('boosted, by hand: similarity 0.4, rules +0.2 and +0.09, 1 day old', () => {
    const { score, factors } = profileBreakdown(
      candidate({ id: 'a', similarity: 0.4, ageDays: 1 }),
      [rule('notes', 0.2), rule('*', 0.09)],
      { profile: BOOSTED_PROFILE, ...CONTEXT },
    );
    // 0.4 × (1 + 0.2 + 0.09 + 0.05 / 2) = 0.4 × 1.315
    expect(score).toBeCloseTo(0.526, 12);
    expect(factors).toEqual([
      { signal: 'similarity', raw: 0.4, value: 0.4, weight: 1, contribution: 0.4 },
      { signal: 'bonus', raw: 0.2, value: 0.2, weight: 0.4, contribution: 0.2 * 0.4, pattern: 'notes' },
      { signal: 'bonus', raw: 0.09, value: 0.09, weight: 0.4, contribution: 0.09 * 0.4, pattern: '*' },
      { signal: 'recency', raw: 1, value: 0.025, weight: 0.4, contribution: 0.025 * 0.4 },
    ]);
  });

  test('weighted, by hand: similarity 0.5, 14 days old, importance 0.8, 3 validated uses of 15', () => {
    const profile: WeightedProfile = { ...WEIGHTED_PROFILE, frequencySaturation: 15 };
    const { score, factors } = profileBreakdown(
      candidate({ id: 'a', similarity: 0.5, ageDays: 14, importance: 0.8, validatedAccessCount: 3 }),
      [],
      { profile, ...CONTEXT },
    );
    // 0.4 × 0.5 + 0.2 × 0.5 + 0.25 × 0.8 + 0.15 × 0.5 = 0.2 + 0.1 + 0.2 + 0.075
    expect(score).toBeCloseTo(0.575, 12);
    expect(factors.map(({ signal, raw, value, weight }) => ({ signal, raw, value, weight }))).toEqual([
      { signal: 'similarity', raw: 0.5, value: 0.5, weight: 0.4 },
      { signal: 'recency', raw: 14, value: 0.5, weight: 0.2 },
      { signal: 'importance', raw: 0.8, value: 0.8, weight: 0.25 },
      { signal: 'frequency', raw: 3, value: 0.5, weight: 0.15 },
    ]);
  });

  test('has factors that add up to its score, to 1e-9, and each is its value times its weight', () => {
    fc.assert(
      fc.property(anyCandidate, anyProfile, anyRules, fc.boolean(), (entry, profile, rules, hasQuery) => {
        const { score, factors } = profileBreakdown(entry, rules, { profile, hasQuery, now: NOW });
        expect(Math.abs(contributionSum(factors) - score)).toBeLessThan(1e-9);
        for (const { value, weight, contribution } of factors) expect(contribution).toBe(value * weight);
      }),
    );
  });

  test('has the very score that the ranking sorts by', () => {
    fc.assert(
      fc.property(anyCandidate, anyProfile, anyRules, fc.boolean(), (entry, profile, rules, hasQuery) => {
        const context = { profile, hasQuery, now: NOW };
        expect(profileBreakdown(entry, rules, context).score).toBe(profileScore(entry, rules, context));
      }),
    );
  });
});

describe('bounds', () => {
  test('a relevance lies between the similarity and the similarity times its largest multiplier', () => {
    fc.assert(
      fc.property(anyCandidate, anyRules, (entry, rules) => {
        const score = profileScore(entry, rules, { profile: BOOSTED_PROFILE, ...CONTEXT });
        const similarity = entry.similarity ?? 0;
        const bonusSum = rules.reduce((sum, { bonus }) => sum + bonus, 0);
        expect(score).toBeGreaterThanOrEqual(similarity);
        expect(score).toBeLessThanOrEqual(similarity * (1 + bonusSum + BOOSTED_PROFILE.recencyDecay) + 1e-12);
      }),
    );
  });

  test('a relevance can exceed 1', () => {
    const entry = candidate({ id: 'a', similarity: 1 });
    expect(profileScore(entry, [], { profile: BOOSTED_PROFILE, ...CONTEXT })).toBeCloseTo(1.05, 12);
  });

  test('a weighted score of the default weights lies in [0, 1]', () => {
    fc.assert(
      fc.property(anyCandidate, fc.boolean(), (entry, hasQuery) => {
        const score = profileScore(entry, [], { profile: WEIGHTED_PROFILE, hasQuery, now: NOW });
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('C2: a score is finite whatever the time, and a future one scores like now', () => {
    fc.assert(
      fc.property(
        anyCandidate,
        anyProfile,
        fc.double({ min: 0, max: 40_000, noNaN: true }),
        (entry, profile, days) => {
          const context = { profile, ...CONTEXT };
          const ahead = profileScore({ ...entry, updatedAt: NOW + days * 86_400_000 }, [], context);
          expect(Number.isFinite(profileScore(entry, [], context))).toBe(true);
          expect(ahead).toBe(profileScore({ ...entry, updatedAt: NOW }, [], context));
        },
      ),
    );
  });
});

describe('C5: a score depends on its own entry alone', () => {
  test('an unrelated entry scores low even when it is the only one', () => {
    const stranger = candidate({ id: 'stranger', similarity: 0.03, ageDays: 300 });
    // 0.03 × (1 + 0.05 / 301) = 0.030005: neither stretched to 1 nor squeezed to 0.
    expect(profileScore(stranger, [], { profile: BOOSTED_PROFILE, ...CONTEXT })).toBeCloseTo(0.030005, 6);
  });
});

describe('zero is a value', () => {
  const entry = candidate({
    id: 'a',
    similarity: 0.5,
    ageDays: 0,
    importance: 0.8,
    validatedAccessCount: 100,
  });

  test('a recency decay of 0 leaves the similarity', () => {
    const profile = { ...BOOSTED_PROFILE, recencyDecay: 0 };
    expect(profileScore(entry, [], { profile, ...CONTEXT })).toBe(0.5);
  });

  test('a bonus of 0 adds nothing and is still named', () => {
    const { score, factors } = profileBreakdown(entry, [rule('notes', 0)], {
      profile: BOOSTED_PROFILE,
      ...CONTEXT,
    });
    expect(score).toBe(0.5 * 1.05);
    expect(factors.find(({ signal }) => signal === 'bonus')).toMatchObject({
      pattern: 'notes',
      contribution: 0,
    });
  });

  test.each(['similarity', 'recency', 'importance', 'frequency'] as const)(
    'a %s weight of 0 switches it off',
    (signal) => {
      const profile = { ...WEIGHTED_PROFILE, weights: { ...WEIGHTED_PROFILE.weights, [signal]: 0 } };
      const { score, factors } = profileBreakdown(entry, [], { profile, ...CONTEXT });
      const full = profileBreakdown(entry, [], { profile: WEIGHTED_PROFILE, ...CONTEXT });
      const lost = full.factors.find((factor) => factor.signal === signal)?.contribution ?? Number.NaN;
      expect(lost).toBeGreaterThan(0);
      expect(score).toBeCloseTo(full.score - lost, 12);
      expect(factors.find((factor) => factor.signal === signal)).toMatchObject({
        weight: 0,
        contribution: 0,
      });
    },
  );

  test('an importance of 0 is not the default of 0.5', () => {
    const context = { profile: WEIGHTED_PROFILE, ...CONTEXT };
    const difference =
      profileScore({ ...entry, importance: 0.5 }, [], context) -
      profileScore({ ...entry, importance: 0 }, [], context);
    expect(difference).toBeCloseTo(0.25 * 0.5, 12);
  });

  test('a similarity of 0 under a query is not the 1.0 of having no query', () => {
    const unrelated = { ...entry, similarity: 0 };
    const asked = profileScore(unrelated, [], { profile: WEIGHTED_PROFILE, hasQuery: true, now: NOW });
    const browsed = profileScore(unrelated, [], { profile: WEIGHTED_PROFILE, hasQuery: false, now: NOW });
    expect(browsed - asked).toBeCloseTo(0.4, 12);
  });
});

test('an entry without a vector is unrelated to any query', () => {
  const entry = candidate({ id: 'a', similarity: null });
  expect(profileScore(entry, [], { profile: BOOSTED_PROFILE, ...CONTEXT })).toBe(0);
});

test('only a boosted profile without a query browses', () => {
  expect(isBrowsing({ profile: BOOSTED_PROFILE, hasQuery: false })).toBe(true);
  expect(isBrowsing({ profile: BOOSTED_PROFILE, hasQuery: true })).toBe(false);
  expect(isBrowsing({ profile: WEIGHTED_PROFILE, hasQuery: false })).toBe(false);
});
