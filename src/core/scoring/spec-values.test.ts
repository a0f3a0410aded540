import { describe, expect, test } from 'vitest';
import { candidate, NOW, rule } from '../../../test/helpers/candidates.ts';
import { BOOSTED_PROFILE, WEIGHTED_PROFILE } from '../defaults.ts';
import { relativeFloor } from '../ranking/cutoff.ts';
import { rank } from '../ranking/rank.ts';
import { boostedScore } from './boosted.ts';
import { recencyHalfLife, recencyShare } from './recency.ts';
import { weightedScore } from './weighted.ts';

/*
 * The values that must come out, as the specification and its two sources print them. They hold to 1e-9 where
 * they are not rounded; a rounded one is compared at the digits it is printed with.
 */

/** `expected` to 1e-9. */
function expectExactly(actual: number, expected: number) {
  expect(Math.abs(actual - expected)).toBeLessThan(1e-9);
}

describe('boosted: relevance = similarity × (1 + Σ bonus + recency_decay / (1 + age_days))', () => {
  const { recencyDecay } = BOOSTED_PROFILE;
  const relevance = (
    similarity: number,
    { ageDays = Number.POSITIVE_INFINITY, bonuses = [] as number[], decay = recencyDecay } = {},
  ) =>
    boostedScore({
      similarity,
      ageDays,
      bonuses: bonuses.map((bonus, index) => ({ pattern: `rule-${index}`, bonus })),
      profile: { recencyDecay: decay },
    });

  test.each([
    //  similarity  age in days  bonuses  decay   relevance
    { similarity: 0.994, ageDays: 0.38, bonuses: [], decay: 0.05, rounded: '1.030' },
    { similarity: 0.5, ageDays: 0, bonuses: [0.1], decay: 0, rounded: '0.550' },
    { similarity: 0.8, ageDays: 0, bonuses: [0.1], decay: 0, rounded: '0.880' },
  ])('similarity $similarity, age $ageDays d, bonuses $bonuses, decay $decay → $rounded', (row) => {
    expect(relevance(row.similarity, row).toFixed(3)).toBe(row.rounded);
  });

  test('similarity 0.994, age 0.38 d, unrounded: 0.994 × (1 + 0.05 / 1.38) = 0.994 × 1.036231884…', () => {
    expectExactly(relevance(0.994, { ageDays: 0.38 }), 1.0300144927536232);
  });

  test('a bonus of 0.1 is 10 % of the similarity: 0.5 × 1.1 = 0.55 and 0.8 × 1.1 = 0.88', () => {
    expectExactly(relevance(0.5, { ageDays: 0, bonuses: [0.1], decay: 0 }), 0.55);
    expectExactly(relevance(0.8, { ageDays: 0, bonuses: [0.1], decay: 0 }), 0.88);
  });

  test.each([
    { ageDays: 0, share: 0.05 },
    { ageDays: 1, share: 0.025 },
    { ageDays: 7, share: 0.00625 },
    { ageDays: 30, share: 0.0016129032258064516 },
  ])('recency share at decay 0.05 after $ageDays days is $share', ({ ageDays, share }) => {
    expectExactly(recencyShare({ ageDays, decay: recencyDecay }), share);
  });

  test('best 0.81, cutoff 0.7: everything below 0.567 goes', () => {
    expectExactly(relativeFloor(0.7, 0.81), 0.567);
    const scores = [0.81, 0.568, 0.566];
    const outcome = rankScores(scores, { minScore: 0.4, relativeCutoff: 0.7 });
    expect(outcome.kept).toEqual([0.81, 0.568]);
    expect(outcome.cut).toEqual([{ score: 0.566, reason: 'relative_cutoff' }]);
  });

  test('0.999, 0.999, 0.994, 0.688 with the default floors: only the last goes', () => {
    const { minScore, relativeCutoff } = BOOSTED_PROFILE;
    const outcome = rankScores([0.999, 0.999, 0.994, 0.688], { minScore, relativeCutoff });
    expect(outcome.kept).toEqual([0.999, 0.999, 0.994]);
    expect(outcome.cut).toEqual([{ score: 0.688, reason: 'relative_cutoff' }]);
  });

  test('two matching rules 0.2 and 0.09, similarity 0.4, age ∞: 0.4 × 1.29 = 0.516', () => {
    expectExactly(relevance(0.4, { bonuses: [0.2, 0.09] }), 0.516);
  });

  test('raw 0.39, bonus 0.05, decay 0, min 0.4: 0.39 × 1.05 = 0.4095 passes, the threshold reads relevance', () => {
    expectExactly(relevance(0.39, { ageDays: 0, bonuses: [0.05], decay: 0 }), 0.4095);
    const outcome = rank({
      candidates: [candidate({ id: 'raw 0.39', similarity: 0.39 })],
      profile: { ...BOOSTED_PROFILE, recencyDecay: 0 },
      rules: [rule('notes', 0.05)],
      hasQuery: true,
      now: NOW,
      topK: 5,
      minScore: 0.4,
      relativeCutoff: 0.7,
    });
    expect(outcome.hits.map((hit) => hit.candidate.id)).toEqual(['raw 0.39']);
    expect(outcome.hits[0]?.candidate.similarity).toBe(0.39);
  });

  /** Ranks candidates whose relevance is their similarity: no rule, no recency. */
  function rankScores(scores: number[], floors: { minScore: number; relativeCutoff: number }) {
    const { hits, cut } = rank({
      candidates: scores.map((similarity, index) => candidate({ id: `${index}`, similarity })),
      profile: { ...BOOSTED_PROFILE, recencyDecay: 0 },
      rules: [],
      hasQuery: true,
      now: NOW,
      topK: 10,
      ...floors,
    });
    return { kept: hits.map(({ score }) => score), cut: cut.map(({ score, reason }) => ({ score, reason })) };
  }
});

describe('weighted: score = 0.40 similarity + 0.20 recency + 0.25 importance + 0.15 frequency', () => {
  const score = (similarity: number | null, importance: number, count: number, ageDays = 0) =>
    weightedScore({ similarity, ageDays, importance, count, profile: WEIGHTED_PROFILE });

  test('similarity 0.135, age 0, importance 0.9, n 0: 0.054 + 0.2 + 0.225 = 0.479', () => {
    expectExactly(score(0.135, 0.9, 0), 0.479);
  });

  test('similarity 0, age 0, importance 0.2, n 0: 0 + 0.2 + 0.05 = 0.250', () => {
    expectExactly(score(0, 0.2, 0), 0.25);
  });

  test.each([
    { ageDays: 0, share: 0.2, rounded: '0.2000' },
    { ageDays: 7, share: 0.1414213562373095, rounded: '0.1414' },
    { ageDays: 14, share: 0.1, rounded: '0.1000' },
    { ageDays: 30, share: 0.04528618321, rounded: '0.0453' },
    // Venkai's page prints 0.005 for three months; 0.2 × 0.5^(90/14) = 0.0023. The formula holds.
    { ageDays: 90, share: 0.00232186608, rounded: '0.0023' },
  ])('recency share after $ageDays days is $rounded', ({ ageDays, share, rounded }) => {
    const { weights, halfLifeDays } = WEIGHTED_PROFILE;
    const actual = weights.recency * recencyHalfLife({ ageDays, halfLifeDays });
    expect(actual.toFixed(4)).toBe(rounded);
    expectExactly(actual, share);
  });

  test('all four terms at their best: 0.40 + 0.20 + 0.25 + 0.15 = 1, and never more', () => {
    expect(score(1, 1, 100)).toBe(1);
    expect(score(1, 1, 1_000_000)).toBe(1);
  });

  test('without a query similarity is 1.0: 0.40 + 0.20 + 0.25 × 0.2 = 0.65', () => {
    expectExactly(score(null, 0.2, 0), 0.65);
  });
});
