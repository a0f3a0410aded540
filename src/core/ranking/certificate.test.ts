import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCandidates, anyParameters, anyProfile, anyRules } from '../../../test/helpers/arbitraries.ts';
import { candidate, DAY, NOW, rule } from '../../../test/helpers/candidates.ts';
import { BOOSTED_PROFILE, WEIGHTED_PROFILE } from '../defaults.ts';
import { profileScore } from '../scoring/profile.ts';
import type { Candidate, FactorMaxima, RankingProfile, WeightedProfile } from '../types.ts';
import { certify, factorsToBound, scoreUpperBound } from './certificate.ts';
import { type RankInput, rank } from './rank.ts';
import { matchRules } from './rules.ts';

/** The tightest bounds over some entries; as a source gives them, without what the profile does not read. */
function maximaOf(entries: readonly Candidate[], profile: RankingProfile): FactorMaxima | null {
  if (entries.length === 0) return null;
  const wanted = factorsToBound(profile);
  const largest = (
    factor: 'similarity' | 'updatedAt' | 'importance' | 'accessCount' | 'validatedAccessCount',
  ) => Math.max(...entries.map((entry) => entry[factor] ?? 0));
  return {
    similarity: largest('similarity'),
    updatedAt: largest('updatedAt'),
    importance: wanted.includes('importance') ? largest('importance') : 1,
    accessCount: wanted.includes('accessCount') ? largest('accessCount') : Number.POSITIVE_INFINITY,
    validatedAccessCount: wanted.includes('validatedAccessCount')
      ? largest('validatedAccessCount')
      : Number.POSITIVE_INFINITY,
  };
}

/** A ranking of some candidates out of a scope, and the certificate for it. */
function rankFetched(input: RankInput, fetched: readonly Candidate[], slack = 0) {
  const outside = input.candidates.filter((entry) => !fetched.includes(entry));
  const tight = maximaOf(outside, input.profile);
  const rest = tight && { ...tight, similarity: Math.min(1, tight.similarity + slack) };
  const outcome = rank({ ...input, candidates: fetched });
  const namespaces = [...new Set(input.candidates.map(({ namespace }) => namespace))];
  return { rest, outcome, certificate: certify({ ...input, outcome, rest, bounded: true, namespaces }) };
}

/** What a certificate speaks of: the hits, without their lists of duplicates. */
const hitsOf = ({ hits }: Pick<ReturnType<typeof rank>, 'hits'>) =>
  hits.map(({ candidate: { id }, score, breakdown }) => ({ id, score, breakdown }));

const anyScope = fc
  .record({
    candidates: anyCandidates,
    profile: anyProfile,
    rules: anyRules,
    hasQuery: fc.boolean(),
    parameters: anyParameters,
    topK: fc.integer({ min: 1, max: 4 }),
    fetchedShare: fc.double({ min: 0.1, max: 1, noNaN: true }),
    isNearestFirst: fc.boolean(),
    slack: fc.constantFrom(0, 0, 0.05),
  })
  .map(({ parameters, fetchedShare, isNearestFirst, slack, ...rest }) => {
    const input: RankInput = { ...parameters, ...rest, now: NOW };
    // Half of the runs fetch as an index does, the others whatever comes first: the proof must not care.
    const nearness = ({ similarity, updatedAt }: Candidate) =>
      input.hasQuery ? (similarity ?? 0) : updatedAt;
    const order = [...input.candidates];
    if (isNearestFirst) order.sort((a, b) => nearness(b) - nearness(a));
    return { input, fetched: order.slice(0, Math.floor(fetchedShare * order.length)), slack };
  });

describe('a certified result', () => {
  test('has the hits that ranking the whole scope gives, with the same scores in the same order', () => {
    let certifiedOfPart = 0;
    fc.assert(
      fc.property(anyScope, ({ input, fetched, slack }) => {
        const { rest, outcome, certificate } = rankFetched(input, fetched, slack);
        if (!certificate.exact) return;
        if (rest !== null) certifiedOfPart += 1;
        expect(hitsOf(outcome)).toEqual(hitsOf(rank(input)));
      }),
      { numRuns: 4000 },
    );
    // The property would hold of a certificate that is never given: one run in ten must be a real proof (one in four is).
    expect(certifiedOfPart).toBeGreaterThan(400);
  });

  test('has the same duplicates too, once the equal contents of its hits are fetched', () => {
    let certifiedWithDuplicates = 0;
    fc.assert(
      fc.property(anyScope, ({ input, fetched }) => {
        if (!rankFetched(input, fetched).certificate.exact) return;
        const contents = new Set(
          rank({ ...input, candidates: fetched }).hits.map((hit) => hit.candidate.contentHash),
        );
        const isEqual = (entry: Candidate) => fetched.includes(entry) || contents.has(entry.contentHash);
        const { outcome, certificate } = rankFetched(input, input.candidates.filter(isEqual));
        expect(certificate.exact).toBe(true);
        expect(outcome.hits).toEqual(rank(input).hits);
        if (
          outcome.hits.some(({ duplicates }) => duplicates.some((one) => !fetched.includes(one.candidate)))
        ) {
          certifiedWithDuplicates += 1;
        }
      }),
      { numRuns: 4000 },
    );
    expect(certifiedWithDuplicates).toBeGreaterThan(20);
  });

  test('has a bound that no entry outside exceeds', () => {
    fc.assert(
      fc.property(anyScope, ({ input, fetched, slack }) => {
        const { certificate } = rankFetched(input, fetched, slack);
        const { bound } = certificate;
        if (bound === null) return;
        const bonuses = matchRules(
          input.rules,
          input.candidates.map(({ namespace }) => namespace),
        );
        for (const entry of input.candidates) {
          if (fetched.includes(entry)) continue;
          expect(profileScore(entry, bonuses.get(entry.namespace) ?? [], input)).toBeLessThanOrEqual(bound);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('scoreUpperBound', () => {
  const maxima: FactorMaxima = {
    similarity: 0.5,
    updatedAt: NOW - 4 * DAY,
    importance: 0.8,
    accessCount: 0,
    validatedAccessCount: 3,
  };

  test('boosted: similarity times the largest multiplier of the namespaces: 0.5 × (1 + 0.3 + 0.05 / 5) = 0.655', () => {
    const bound = scoreUpperBound({
      maxima,
      profile: BOOSTED_PROFILE,
      // `a` gets 0.1 + 0.2, `b` 0.1, and the 0.9 covers neither.
      rules: [rule('*', 0.1), rule('a', 0.2), rule('elsewhere', 0.9)],
      namespaces: ['a', 'b'],
      hasQuery: true,
      now: NOW,
    });
    expect(bound).toBeCloseTo(0.655, 10);
    expect(bound).toBeGreaterThanOrEqual(0.655);
  });

  test('weighted: the formula on the maxima: 0.4 × 0.5 + 0.2 × 0.5 + 0.25 × 0.8 + 0.15 × 0.5 = 0.575', () => {
    const profile: WeightedProfile = { ...WEIGHTED_PROFILE, halfLifeDays: 4, frequencySaturation: 15 };
    const bound = scoreUpperBound({
      maxima,
      profile,
      rules: [],
      namespaces: ['a'],
      hasQuery: true,
      now: NOW,
    });
    expect(bound).toBeCloseTo(0.575, 10);
    expect(bound).toBeGreaterThanOrEqual(0.575);
  });

  test('is null while browsing', () => {
    const browsing = {
      maxima,
      profile: BOOSTED_PROFILE,
      rules: [],
      namespaces: ['a'],
      hasQuery: false,
      now: NOW,
    };
    expect(scoreUpperBound(browsing)).toBeNull();
  });
});

describe('certify, case by case', () => {
  const PLAIN: Omit<RankInput, 'candidates'> = {
    profile: { ...BOOSTED_PROFILE, recencyDecay: 0 },
    rules: [],
    hasQuery: true,
    now: NOW,
    topK: 2,
    minScore: 0,
    relativeCutoff: 0,
  };
  const nearest = [0.9, 0.8].map((similarity) => candidate({ id: `${similarity}`, similarity }));

  function certificateWith(outside: Candidate[], overrides: Partial<RankInput> = {}) {
    const input = { ...PLAIN, candidates: [...nearest, ...outside], ...overrides };
    return rankFetched(input, nearest).certificate;
  }

  test('nothing left out: exact', () => {
    expect(certificateWith([])).toEqual({ exact: true, bound: null, kthScore: 0.8 });
  });

  test('everything outside lies below the k-th: exact, with both numbers', () => {
    const certificate = certificateWith([candidate({ id: 'far', similarity: 0.7 })]);
    expect(certificate).toEqual({ exact: true, bound: expect.closeTo(0.7, 10), kthScore: 0.8 });
  });

  test('a tie with the k-th outside: not certified, the order would be luck', () => {
    expect(certificateWith([candidate({ id: 'tie', similarity: 0.8 })]).exact).toBe(false);
  });

  test('a rule could lift what is outside over the k-th: not certified', () => {
    const outside = [candidate({ id: 'far', similarity: 0.7, namespace: 'lifted' })];
    expect(certificateWith(outside, { rules: [rule('lifted', 0.1)] }).exact).toBe(true);
    expect(certificateWith(outside, { rules: [rule('lifted', 0.2)] }).exact).toBe(false);
  });

  test('fewer than k came out, and what is outside could be a hit: not certified', () => {
    expect(certificateWith([candidate({ id: 'far', similarity: 0.5 })], { topK: 3 })).toEqual({
      exact: false,
      bound: expect.closeTo(0.5, 10),
      kthScore: null,
    });
  });

  test('fewer than k came out, and all outside lies below min_score: exact', () => {
    const outside = [candidate({ id: 'far', similarity: 0.5 })];
    expect(certificateWith(outside, { topK: 3, minScore: 0.51 }).exact).toBe(true);
    expect(certificateWith(outside, { topK: 3, minScore: 0.5 }).exact).toBe(false);
  });

  test('fewer than k came out, and all outside lies below the relative cutoff of the best: exact', () => {
    const outside = [candidate({ id: 'far', similarity: 0.5 })];
    // 0.5 / 0.9 = 0.556
    expect(certificateWith(outside, { topK: 3, relativeCutoff: 0.56 }).exact).toBe(true);
    expect(certificateWith(outside, { topK: 3, relativeCutoff: 0.55 }).exact).toBe(false);
  });

  test('nothing was fetched: exact only where min_score keeps all out', () => {
    const outside = [candidate({ id: 'far', similarity: 0.3 })];
    const certificateOfNothing = (minScore: number) =>
      rankFetched({ ...PLAIN, candidates: outside, minScore, relativeCutoff: 0.7 }, []).certificate;
    expect(certificateOfNothing(0.4).exact).toBe(true);
    expect(certificateOfNothing(0.2).exact).toBe(false);
  });

  test('duplicates that fill the fetched candidates leave slots open: not certified', () => {
    const copies = nearest.map((entry) => ({ ...entry, contentHash: 'same' }));
    const far = candidate({ id: 'far', similarity: 0.5 });
    const { outcome, certificate } = rankFetched({ ...PLAIN, candidates: [...copies, far] }, copies);
    expect(outcome.hits).toHaveLength(1);
    expect(certificate.exact).toBe(false);
  });

  test('the source may have missed candidates that nothing bounds: not certified', () => {
    const outcome = rank({ ...PLAIN, candidates: nearest });
    const certificate = certify({ ...PLAIN, outcome, rest: null, bounded: false, namespaces: ['notes'] });
    expect(certificate).toEqual({ exact: false, bound: null, kthScore: 0.8 });
  });

  test('browsing: exact when everything outside is strictly older than the k-th', () => {
    const listing = { ...PLAIN, profile: BOOSTED_PROFILE, hasQuery: false };
    const recent = [1, 2].map((ageDays) => candidate({ id: `${ageDays}`, similarity: null, ageDays }));
    const certificateBeside = (ageDays: number) => {
      const older = candidate({ id: 'older', similarity: null, ageDays });
      return rankFetched({ ...listing, candidates: [...recent, older] }, recent).certificate;
    };
    expect(certificateBeside(3)).toEqual({ exact: true, bound: null, kthScore: null });
    expect(certificateBeside(2).exact).toBe(false);
  });
});

describe('factorsToBound: what a profile reads beside similarity and time', () => {
  test.each([
    { name: 'boosted', profile: BOOSTED_PROFILE, factors: [] },
    { name: 'weighted', profile: WEIGHTED_PROFILE, factors: ['importance', 'validatedAccessCount'] },
    {
      name: 'weighted by access_count',
      profile: { ...WEIGHTED_PROFILE, frequencySource: 'access_count' as const },
      factors: ['importance', 'accessCount'],
    },
    {
      name: 'weighted with both switched off',
      profile: { ...WEIGHTED_PROFILE, weights: { ...WEIGHTED_PROFILE.weights, importance: 0, frequency: 0 } },
      factors: [],
    },
  ])('$name: $factors', ({ profile, factors }) => {
    expect(factorsToBound(profile)).toEqual(factors);
  });
});
