import { describe, expect, test } from 'vitest';
import { WEIGHTED_PROFILE } from '../../src/core/defaults.ts';
import type { SignalWeights } from '../../src/core/types.ts';
import { type RankingSet, rankSet } from '../helpers/ranking-set.ts';

/* What the `weighted` profile is expected to prefer, and why. */

const profile = WEIGHTED_PROFILE;

describe('the worked example: "which database did we pick", by token overlap', () => {
  const memories: RankingSet = {
    'preference: commit messages': { similarity: 0, importance: 0.2 },
    'decision: PostgreSQL': { similarity: 0.135, importance: 0.9 },
  };

  test('the right memory wins', () => {
    expect(rankSet(memories, { profile }).places).toEqual([
      'decision: PostgreSQL',
      'preference: commit messages',
    ]);
  });

  test('mostly on importance: with equal importance only 0.054 is left between them', () => {
    const gap = (set: RankingSet) => {
      const [first, second] = rankSet(set, { profile }).hits;
      return (first?.score ?? 0) - (second?.score ?? 0);
    };
    // 0.479 - 0.250
    expect(gap(memories)).toBeCloseTo(0.229, 9);
    expect(
      gap({ a: { similarity: 0, importance: 0.5 }, b: { similarity: 0.135, importance: 0.5 } }),
    ).toBeCloseTo(0.054, 9);
  });
});

describe('importance', () => {
  test('is the only signal that does not fade: a foundation of two years ago beats chatter of last month', () => {
    const { places } = rankSet(
      {
        'chatter of last month': { similarity: 0.4, importance: 0.2, ageDays: 30 },
        'foundation of two years ago': { similarity: 0.4, importance: 0.9, ageDays: 730 },
      },
      { profile },
    );
    // 0.16 + 0.0453 + 0.05 = 0.2553 against 0.16 + 0 + 0.225 = 0.385
    expect(places).toEqual(['foundation of two years ago', 'chatter of last month']);
  });

  test('of 0 is not the 0.5 of saying nothing', () => {
    const { places } = rankSet(
      { 'said 0': { importance: 0 }, 'said nothing': { importance: 0.5 } },
      { profile },
    );
    expect(places).toEqual(['said nothing', 'said 0']);
  });
});

describe('recency', () => {
  test('lets today’s chatter lead for a while, and drops it within two months', () => {
    const chatter = (ageDays: number): RankingSet => ({
      chatter: { similarity: 0.4, importance: 0.2, ageDays },
      decision: { similarity: 0.4, importance: 0.8, ageDays: 730 },
    });
    // 0.05 + 0.2 = 0.25 against 0.2; after 60 days 0.05 + 0.0103 = 0.0603.
    expect(rankSet(chatter(0), { profile }).places).toEqual(['chatter', 'decision']);
    expect(rankSet(chatter(60), { profile }).places).toEqual(['decision', 'chatter']);
  });
});

describe('frequency', () => {
  const used: RankingSet = {
    'never confirmed': {},
    'confirmed useful ten times': { validatedAccessCount: 10 },
    'opened a thousand times, never confirmed': { accessCount: 1000 },
  };

  test('is earned by confirmed use alone: being opened lifts nothing', () => {
    const { places, hits } = rankSet(used, { profile });
    expect(places[0]).toBe('confirmed useful ten times');
    expect(hits[1]?.score).toBe(hits[2]?.score);
  });

  test('reads the other counter where the profile says so', () => {
    const { places } = rankSet(used, { profile: { ...profile, frequencySource: 'access_count' } });
    expect(places[0]).toBe('opened a thousand times, never confirmed');
  });

  test('grows by orders of magnitude: the first uses count most', () => {
    const score = (validatedAccessCount: number) =>
      rankSet({ it: { validatedAccessCount } }, { profile }).hits[0]?.score ?? 0;
    expect(score(10) - score(0)).toBeGreaterThan(score(100) - score(10));
    expect(score(1000)).toBe(score(100));
  });
});

describe('a weight of 0 switches its signal off', () => {
  const lead: Record<keyof SignalWeights, RankingSet> = {
    similarity: { ahead: { similarity: 0.9 }, behind: { similarity: 0.1 } },
    recency: { ahead: { ageDays: 0 }, behind: { ageDays: 100 } },
    importance: { ahead: { importance: 1 }, behind: { importance: 0 } },
    frequency: { ahead: { validatedAccessCount: 50 }, behind: { validatedAccessCount: 0 } },
  };

  test.each(Object.keys(lead) as (keyof SignalWeights)[])('%s', (signal) => {
    const scores = (weights: SignalWeights) =>
      rankSet(lead[signal], { profile: { ...profile, weights } }).hits.map(({ score }) => score);
    const [ahead, behind] = scores(profile.weights);
    expect(ahead).toBeGreaterThan(behind ?? Number.NaN);
    const [one, other] = scores({ ...profile.weights, [signal]: 0 });
    expect(one).toBe(other);
  });
});

describe('without a question', () => {
  test('similarity counts as 1.0 for all, and the other signals decide', () => {
    const { places, hits } = rankSet(
      {
        important: { similarity: null, importance: 0.9, ageDays: 14 },
        fresh: { similarity: null, importance: 0.2, ageDays: 0 },
      },
      { profile, hasQuery: false },
    );
    // 0.4 + 0.1 + 0.225 = 0.725 and 0.4 + 0.2 + 0.05 = 0.65
    expect(places).toEqual(['important', 'fresh']);
    expect(hits.map(({ score }) => score)).toEqual([expect.closeTo(0.725, 9), expect.closeTo(0.65, 9)]);
  });

  test('an explicit threshold still holds, since there is a score', () => {
    const memories: RankingSet = { old: { similarity: null, importance: 0, ageDays: 365 } };
    expect(rankSet(memories, { profile, hasQuery: false }).places).toEqual(['old']);
    expect(rankSet(memories, { profile, hasQuery: false, minScore: 0.5 }).missing).toEqual({
      old: 'min_score',
    });
  });
});

test('by default nothing is cut but by number: even what is worth nothing has a place', () => {
  const { places } = rankSet(
    { nothing: { similarity: 0, importance: 0, ageDays: 10_000 }, best: { similarity: 1, importance: 1 } },
    { profile },
  );
  expect(places).toEqual(['best', 'nothing']);
});
