import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  anyCandidates,
  anyParameters,
  anyProfile,
  anyRules,
  shuffled,
} from '../../../test/helpers/arbitraries.ts';
import { candidate, NOW, rule } from '../../../test/helpers/candidates.ts';
import { BOOSTED_PROFILE, WEIGHTED_PROFILE } from '../defaults.ts';
import type { ScoredCandidate } from '../types.ts';
import { type RankInput, rank } from './rank.ts';

/** A query under the plain formula: relevance is the similarity, and no floor. */
function input(overrides: Partial<RankInput>): RankInput {
  return {
    candidates: [],
    profile: { ...BOOSTED_PROFILE, recencyDecay: 0 },
    rules: [],
    hasQuery: true,
    now: NOW,
    topK: 5,
    minScore: 0,
    relativeCutoff: 0,
    ...overrides,
  };
}

const ids = (scored: readonly ScoredCandidate[]) => scored.map((one) => one.candidate.id);

const anyInput: fc.Arbitrary<RankInput> = fc
  .record({
    candidates: anyCandidates,
    profile: anyProfile,
    rules: anyRules,
    hasQuery: fc.boolean(),
    parameters: anyParameters,
  })
  .map(({ parameters, ...rest }) => ({ ...rest, ...parameters, now: NOW }));

describe('order', () => {
  test('score descending, then updatedAt descending, then id by code unit', () => {
    const { hits } = rank(
      input({
        candidates: [
          candidate({ id: 'b', similarity: 0.5, ageDays: 1 }),
          candidate({ id: 'a', similarity: 0.5, ageDays: 1 }),
          candidate({ id: 'B', similarity: 0.5, ageDays: 1 }),
          candidate({ id: 'newer', similarity: 0.5, ageDays: 0 }),
          candidate({ id: 'best', similarity: 0.6, ageDays: 99 }),
        ],
      }),
    );
    expect(ids(hits)).toEqual(['best', 'newer', 'B', 'a', 'b']);
  });

  test('does not depend on the order candidates or rules arrive in', () => {
    const shuffledTwice = anyInput.chain((one) =>
      fc.tuple(fc.constant(one), shuffled([...one.candidates]), shuffled([...one.rules])),
    );
    fc.assert(
      fc.property(shuffledTwice, ([one, candidates, rules]) => {
        expect(rank({ ...one, candidates, rules })).toEqual(rank(one));
      }),
    );
  });

  test('is total: every next hit is strictly behind the one before', () => {
    fc.assert(
      fc.property(anyInput, (one) => {
        const { hits, cut } = rank(one);
        const isBehind = (a: ScoredCandidate, b: ScoredCandidate) =>
          (a.score ?? 0) > (b.score ?? 0) ||
          (a.score === b.score &&
            (a.candidate.updatedAt > b.candidate.updatedAt ||
              (a.candidate.updatedAt === b.candidate.updatedAt && a.candidate.id < b.candidate.id)));
        for (const list of [hits, cut]) {
          list.slice(1).forEach((next, index) => {
            expect(isBehind(list[index] ?? next, next)).toBe(true);
          });
        }
      }),
    );
  });

  test('the hits of top_k are the first of the hits of top_k + 1', () => {
    fc.assert(
      fc.property(anyInput, (one) => {
        const more = rank({ ...one, topK: one.topK + 1 });
        expect(rank(one).hits).toEqual(more.hits.slice(0, one.topK));
      }),
    );
  });
});

describe('every candidate', () => {
  test('ends as a hit or as cut, once, and with factors that add up to its score', () => {
    fc.assert(
      fc.property(anyInput, (one) => {
        const { hits, cut, cutCount } = rank(one);
        expect([...ids(hits), ...ids(cut)].sort()).toEqual(
          ids(one.candidates.map((it) => ({ candidate: it, score: 0, breakdown: null }))).sort(),
        );
        expect(cutCount).toBe(cut.length);
        for (const { score, breakdown } of [...hits, ...hits.flatMap((hit) => hit.duplicates), ...cut]) {
          const sum = breakdown?.factors.reduce((total, { contribution }) => total + contribution, 0) ?? null;
          expect(breakdown?.score ?? null).toBe(score);
          expect(Math.abs((sum ?? 0) - (score ?? 0))).toBeLessThan(1e-9);
        }
      }),
    );
  });

  test('that is a hit clears both floors, and each that was cut says which line it missed', () => {
    fc.assert(
      fc.property(anyInput, (one) => {
        const { hits, cut, bestScore, effective } = rank(one);
        for (const { score } of hits) {
          if (score === null) continue;
          expect(score).toBeGreaterThanOrEqual(effective.minScore);
          expect(score).toBeGreaterThanOrEqual(effective.relativeCutoff * (bestScore ?? 0));
        }
        for (const { score, reason, threshold } of cut) {
          if (reason !== 'min_score' && reason !== 'relative_cutoff') continue;
          expect(score).toBeLessThan(threshold ?? Number.NaN);
        }
      }),
    );
  });

  test('is scored from its similarity even when it was ranked before', () => {
    const once = rank(input({ candidates: [candidate({ id: 'a' })], rules: [rule('notes', 0.1)] }));
    const again = rank(
      input({ candidates: once.hits.map((hit) => hit.candidate), rules: [rule('notes', 0.1)] }),
    );
    expect(again.hits[0]?.score).toBe(0.5 * 1.1);
  });

  test('stays as it was: nothing given is changed', () => {
    const frozen = Object.freeze([
      Object.freeze(candidate({ id: 'b' })),
      Object.freeze(candidate({ id: 'a' })),
    ]);
    expect(ids(rank(input({ candidates: frozen, rules: Object.freeze([rule('*', 0.1)]) })).hits)).toEqual([
      'a',
      'b',
    ]);
    expect(frozen.map(({ id }) => id)).toEqual(['b', 'a']);
  });
});

describe('floors', () => {
  test('a score exactly on a floor stays', () => {
    const candidates = [
      candidate({ id: 'best', similarity: 0.8 }),
      candidate({ id: 'half', similarity: 0.4 }),
    ];
    expect(ids(rank(input({ candidates, minScore: 0.4 })).hits)).toEqual(['best', 'half']);
    expect(ids(rank(input({ candidates, relativeCutoff: 0.5 })).hits)).toEqual(['best', 'half']);
    expect(ids(rank(input({ candidates, minScore: 0.41 })).hits)).toEqual(['best']);
    expect(ids(rank(input({ candidates, relativeCutoff: 0.51 })).hits)).toEqual(['best']);
  });

  test('what misses both is cut by min_score, the first of them', () => {
    const candidates = [
      candidate({ id: 'best', similarity: 0.9 }),
      candidate({ id: 'far', similarity: 0.1 }),
    ];
    const { cut } = rank(input({ candidates, minScore: 0.4, relativeCutoff: 0.7 }));
    expect(cut).toMatchObject([{ reason: 'min_score', threshold: 0.4 }]);
  });

  test('when the best misses min_score, nothing is left for the relative cutoff to keep', () => {
    const candidates = [candidate({ id: 'a', similarity: 0.3 }), candidate({ id: 'b', similarity: 0.29 })];
    const { hits, cut, bestScore } = rank(input({ candidates, minScore: 0.4, relativeCutoff: 0.7 }));
    expect(hits).toEqual([]);
    expect(cut.map(({ reason }) => reason)).toEqual(['min_score', 'min_score']);
    expect(bestScore).toBe(0.3);
  });

  test('0 disables each: even a score of 0 passes', () => {
    const candidates = [
      candidate({ id: 'best', similarity: 1 }),
      candidate({ id: 'nothing', similarity: 0 }),
    ];
    expect(ids(rank(input({ candidates })).hits)).toEqual(['best', 'nothing']);
  });

  test('a relative cutoff of 1 keeps all that equal the best', () => {
    const candidates = ['a', 'b', 'c'].map((id) => candidate({ id, similarity: id === 'c' ? 0.8 : 0.9 }));
    expect(ids(rank(input({ candidates, relativeCutoff: 1 })).hits)).toEqual(['a', 'b']);
  });

  test('the floors hold under a weighted profile too, where somebody sets them', () => {
    const candidates = [candidate({ id: 'a', similarity: 1 }), candidate({ id: 'b', similarity: 0 })];
    const weighted = input({ candidates, profile: WEIGHTED_PROFILE });
    // a: 0.4 + 0.2 + 0.125 = 0.725, b: 0.325 = 0.448 of it
    expect(ids(rank(weighted).hits)).toEqual(['a', 'b']);
    expect(ids(rank({ ...weighted, minScore: 0.5 }).hits)).toEqual(['a']);
    expect(ids(rank({ ...weighted, relativeCutoff: 0.45 }).hits)).toEqual(['a']);
    expect(ids(rank({ ...weighted, relativeCutoff: 0.44 }).hits)).toEqual(['a', 'b']);
  });
});

describe('C9: an entry of raw 0.39 with a rule of +0.3 and a floor of 0.4', () => {
  const candidates = [candidate({ id: 'confirmed', similarity: 0.39, namespace: 'vector.global.rules' })];

  test('passes, since the floor reads what it is worth: 0.39 × 1.3 = 0.507', () => {
    const { hits } = rank(input({ candidates, rules: [rule('vector.global.*', 0.3)], minScore: 0.4 }));
    expect(hits[0]?.score).toBeCloseTo(0.507, 12);
  });

  test('without the rule it is cut, and the trace names the gate and its value', () => {
    const { hits, cut } = rank(input({ candidates, minScore: 0.4 }));
    expect(hits).toEqual([]);
    expect(cut).toMatchObject([{ score: 0.39, reason: 'min_score', threshold: 0.4, duplicateOf: null }]);
  });
});

describe('C5: nothing is scaled by the result it stands in', () => {
  test('one unrelated entry is not lifted to 1 and falls to the floor', () => {
    const { hits, cut } = rank(
      input({ candidates: [candidate({ id: 'a', similarity: 0.03 })], minScore: 0.4 }),
    );
    expect(hits).toEqual([]);
    expect(cut).toMatchObject([{ score: 0.03, reason: 'min_score' }]);
  });

  test('one low score leaves the others where they are', () => {
    const related = candidate({ id: 'related', similarity: 0.6 });
    const alone = rank(input({ candidates: [related] })).hits[0];
    const beside = rank(input({ candidates: [related, candidate({ id: 'low', similarity: 0.01 })] })).hits[0];
    expect(beside).toEqual(alone);
  });

  test('an entry keeps its score whatever else is ranked with it', () => {
    fc.assert(
      fc.property(anyInput, (one) => {
        const together = rank({ ...one, topK: 200, minScore: 0, relativeCutoff: 0 });
        const everywhere = [...together.hits, ...together.cut];
        for (const { candidate: entry, score } of everywhere) {
          expect(rank({ ...one, candidates: [entry], minScore: 0 }).hits[0]?.score).toBe(score);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('rules', () => {
  const inHowto = candidate({ id: 'howto', similarity: 0.5, namespace: 'vector.agent.u1.howto.sql' });

  test('all that cover the namespace add up: 0.5 × (1 + 0.1 + 0.2) = 0.65', () => {
    const rules = [
      rule('vector.agent.${user_id}.howto', 0.1),
      rule('vector.*', 0.2),
      rule('vector.global.*', 0.9),
    ];
    const { hits } = rank(input({ candidates: [inHowto], rules }));
    expect(hits[0]?.score).toBeCloseTo(0.65, 12);
    const bonuses = hits[0]?.breakdown?.factors.filter(({ signal }) => signal === 'bonus');
    expect(bonuses?.map(({ pattern }) => pattern)).toEqual(['vector.*', 'vector.agent.${user_id}.howto']);
  });

  test('mean nothing to a weighted profile', () => {
    const weighted = input({ candidates: [inHowto], profile: WEIGHTED_PROFILE });
    expect(rank({ ...weighted, rules: [rule('*', 1)] })).toEqual(rank(weighted));
  });
});

describe('browsing: a boosted profile without a query', () => {
  const candidates = [
    candidate({ id: 'old', similarity: null, ageDays: 30 }),
    candidate({ id: 'new', similarity: null, ageDays: 1 }),
    candidate({ id: 'copy of new', similarity: null, ageDays: 2, contentHash: 'content of new' }),
  ];
  const outcome = rank(
    input({ candidates, profile: BOOSTED_PROFILE, hasQuery: false, minScore: 0.4, relativeCutoff: 0.7 }),
  );

  test('is newest first, with no score and no threshold', () => {
    expect(ids(outcome.hits)).toEqual(['new', 'old']);
    expect(outcome.hits.map(({ score, breakdown }) => [score, breakdown])).toEqual([
      [null, null],
      [null, null],
    ]);
    expect(outcome.effective).toEqual({ topK: 5, minScore: 0, relativeCutoff: 0 });
    expect(outcome.bestScore).toBeNull();
  });

  test('still makes one hit of equal contents', () => {
    expect(ids(outcome.hits[0]?.duplicates ?? [])).toEqual(['copy of new']);
    expect(outcome.cut).toMatchObject([{ reason: 'duplicate', duplicateOf: 'new', score: null }]);
  });
});

test('a weighted profile without a query takes every similarity as 1.0: 0.4 + 0.2 + 0.125 = 0.725', () => {
  const candidates = [candidate({ id: 'a', similarity: null }), candidate({ id: 'b', similarity: 0.1 })];
  const { hits } = rank(input({ candidates, profile: WEIGHTED_PROFILE, hasQuery: false }));
  expect(hits.map(({ score }) => score)).toEqual([expect.closeTo(0.725, 12), expect.closeTo(0.725, 12)]);
});

describe('cutLimit', () => {
  const candidates = [0.9, 0.8, 0.7, 0.6, 0.1].map((similarity) =>
    candidate({ id: `${similarity}`, similarity }),
  );

  test('keeps the cut ones nearest to the line and counts all', () => {
    const { cut, cutCount } = rank(input({ candidates, topK: 1, minScore: 0.4, cutLimit: 2 }));
    expect(ids(cut)).toEqual(['0.8', '0.7']);
    expect(cutCount).toBe(4);
  });

  test('0 is a value: none are listed', () => {
    expect(rank(input({ candidates, topK: 1, cutLimit: 0 }))).toMatchObject({ cut: [], cutCount: 4 });
  });
});

test('no candidate gives no hit and no best score', () => {
  expect(rank(input({}))).toMatchObject({ hits: [], cut: [], cutCount: 0, bestScore: null });
});
