import { describe, expect, test } from 'vitest';
import { BOOSTED_PROFILE } from '../../src/core/defaults.ts';
import { rule } from '../helpers/candidates.ts';
import { type RankingSet, rankSet } from '../helpers/ranking-set.ts';

/*
 * What the `boosted` profile is expected to prefer, and why. Each test is one judgement that a reader can check
 * without knowing the code; the arithmetic behind a close call is written beside it.
 */

const profile = BOOSTED_PROFILE;

describe('"which database did we pick?" in the memory of a project', () => {
  const memories: RankingSet = {
    'decision: PostgreSQL, with its reasons': {
      similarity: 0.71,
      ageDays: 40,
      namespace: 'team.backend.decisions',
    },
    'chat of today about database options': { similarity: 0.69, ageDays: 0, namespace: 'team.backend.chat' },
    'how to run the database locally': { similarity: 0.62, ageDays: 200, namespace: 'team.backend.howto' },
    'the same, copied into another namespace': {
      similarity: 0.62,
      ageDays: 210,
      namespace: 'team.frontend.howto',
      contentHash: 'content of how to run the database locally',
    },
    'decision: which cache we use': { similarity: 0.52, ageDays: 10, namespace: 'team.backend.decisions' },
    'how we write commit messages': { similarity: 0.21, ageDays: 3, namespace: 'team.backend.howto' },
  };

  test('without rules, today’s chat leads by its freshness, and what is off the topic is not there', () => {
    const { places, missing } = rankSet(memories, { profile });
    expect(places).toEqual([
      // 0.69 × 1.05 = 0.7245
      'chat of today about database options',
      // 0.71 × (1 + 0.05 / 41) = 0.7109
      'decision: PostgreSQL, with its reasons',
      // 0.62: old, and clearly less near
      'how to run the database locally',
      // 0.52 × (1 + 0.05 / 11) = 0.5224, still above 0.7 × 0.7245 = 0.5072
      'decision: which cache we use',
    ]);
    expect(missing).toEqual({
      'the same, copied into another namespace': 'duplicate',
      'how we write commit messages': 'min_score',
    });
  });

  test('a rule that favours decisions by 10 % puts the decision before the chat', () => {
    const { places } = rankSet(memories, { profile, rules: [rule('team.*.decisions', 0.1)] });
    // 0.71 × 1.1012 = 0.7819 against 0.7245
    expect(places.slice(0, 2)).toEqual([
      'decision: PostgreSQL, with its reasons',
      'chat of today about database options',
    ]);
  });

  test('the copy names itself in the hit that stands for it', () => {
    const howTo = rankSet(memories, { profile }).hits[2];
    expect(howTo?.duplicates.map((copy) => copy.candidate.namespace)).toEqual(['team.frontend.howto']);
  });
});

describe('freshness', () => {
  test('of two equally near memories the fresh one beats the stale one', () => {
    const { places } = rankSet(
      {
        'half a year old': { similarity: 0.6, ageDays: 180 },
        'of this morning': { similarity: 0.6, ageDays: 0.2 },
      },
      { profile },
    );
    expect(places).toEqual(['of this morning', 'half a year old']);
  });

  test('does not beat relevance: a clearly nearer old memory stays before a fresh one', () => {
    // 0.70 against 0.62 × 1.05 = 0.651
    const { places } = rankSet(
      {
        'fresh and further off': { similarity: 0.62, ageDays: 0 },
        'old and on the point': { similarity: 0.7, ageDays: 365 },
      },
      { profile },
    );
    expect(places).toEqual(['old and on the point', 'fresh and further off']);
  });

  test('fades: after a month it no longer decides against one hundredth of similarity', () => {
    // 0.60 × (1 + 0.05 / 31) = 0.60097 against 0.61
    const { places } = rankSet(
      {
        'a month old': { similarity: 0.6, ageDays: 30 },
        'two years old, a little nearer': { similarity: 0.61, ageDays: 730 },
      },
      { profile },
    );
    expect(places).toEqual(['two years old, a little nearer', 'a month old']);
  });

  test('is weaker than any rule: +6 % outweighs being new', () => {
    const { places } = rankSet(
      {
        'new, in the chat': { similarity: 0.6, ageDays: 0, namespace: 'chat' },
        'old, in the handbook': { similarity: 0.6, ageDays: 400, namespace: 'handbook' },
      },
      { profile, rules: [rule('handbook', 0.06)] },
    );
    expect(places).toEqual(['old, in the handbook', 'new, in the chat']);
  });

  test('switched off by a decay of 0, leaves equals to the order of their times', () => {
    const { hits } = rankSet(
      { older: { similarity: 0.6, ageDays: 9 }, newer: { similarity: 0.6, ageDays: 1 } },
      { profile: { ...profile, recencyDecay: 0 } },
    );
    expect(hits.map((hit) => [hit.candidate.id, hit.score])).toEqual([
      ['newer', 0.6],
      ['older', 0.6],
    ]);
  });

  test('a time in the future gives no advantage over now', () => {
    const { hits } = rankSet(
      {
        'from a clock that runs ahead': { similarity: 0.6, ageDays: -30 },
        'of this moment': { similarity: 0.6, ageDays: 0 },
      },
      { profile },
    );
    expect(hits[0]?.score).toBe(hits[1]?.score);
  });
});

describe('rules', () => {
  test('lift a namespace and its sub-namespaces, and no neighbour with a similar name', () => {
    const { places } = rankSet(
      {
        neighbour: { similarity: 0.61, namespace: 'vector.agent.u1.howtos' },
        below: { similarity: 0.59, namespace: 'vector.agent.u1.howto.sql' },
        itself: { similarity: 0.6, namespace: 'vector.agent.u1.howto' },
      },
      { profile, rules: [rule('vector.agent.${user_id}.howto', 0.1)] },
    );
    expect(places).toEqual(['itself', 'below', 'neighbour']);
  });

  test('of which several match add up, and lift further than the largest alone', () => {
    const memories: RankingSet = {
      'under one rule of 0.2': { similarity: 0.6, ageDays: 50, namespace: 'team.a' },
      'under two, of 0.15 and 0.1': { similarity: 0.6, ageDays: 51, namespace: 'team.b.x' },
    };
    const rules = [rule('team.a', 0.2), rule('team.b', 0.15)];
    expect(rankSet(memories, { profile, rules }).places[0]).toBe('under one rule of 0.2');
    const withBoth = rankSet(memories, { profile, rules: [...rules, rule('team.*.x', 0.1)] });
    expect(withBoth.places[0]).toBe('under two, of 0.15 and 0.1');
  });

  test('multiply, so they never lift what has nothing to do with the question', () => {
    const { places, missing } = rankSet(
      {
        unrelated: { similarity: 0.05, namespace: 'favoured' },
        related: { similarity: 0.55, namespace: 'plain' },
      },
      { profile, rules: [rule('favoured', 1)] },
    );
    expect(places).toEqual(['related']);
    expect(missing).toEqual({ unrelated: 'min_score' });
  });

  test('carry a near memory over the threshold that its similarity alone would miss', () => {
    const memories: RankingSet = { 'raw 0.39': { similarity: 0.39, ageDays: 100, namespace: 'handbook' } };
    expect(rankSet(memories, { profile }).places).toEqual([]);
    expect(rankSet(memories, { profile, rules: [rule('handbook', 0.05)] }).places).toEqual(['raw 0.39']);
  });
});

describe('what is not worth showing', () => {
  test('an unrelated question finds nothing, however few memories there are', () => {
    const { places } = rankSet(
      { a: { similarity: 0.12 }, b: { similarity: 0.08 }, c: { similarity: 0 } },
      { profile },
    );
    expect(places).toEqual([]);
  });

  test('the tail of a good list is trimmed, its head is not', () => {
    const { places, missing } = rankSet(
      {
        first: { similarity: 0.95 },
        second: { similarity: 0.9 },
        third: { similarity: 0.68 },
        tail: { similarity: 0.6 },
      },
      { profile },
    );
    // The floor is 0.7 × 0.95 × 1.05, and all are equally fresh: 0.665 of similarity.
    expect(places).toEqual(['first', 'second', 'third']);
    expect(missing).toEqual({ tail: 'relative_cutoff' });
  });

  test('with both floors at 0, everything comes, the unrelated last', () => {
    const { places } = rankSet(
      { unrelated: { similarity: 0 }, related: { similarity: 0.7 } },
      { profile, minScore: 0, relativeCutoff: 0 },
    );
    expect(places).toEqual(['related', 'unrelated']);
  });
});

describe('equal contents in several namespaces', () => {
  test('take one place: five places show five different contents', () => {
    const memories: RankingSet = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [
        `memory ${String(index).padStart(2, '0')}`,
        // Four copies each of five contents.
        {
          similarity: 0.9 - index * 0.005,
          contentHash: `content ${index % 5}`,
          namespace: `n${Math.floor(index / 5)}`,
        },
      ]),
    );
    const { hits } = rankSet(memories, { profile });
    expect(hits.map((hit) => hit.candidate.contentHash).sort()).toEqual(
      [0, 1, 2, 3, 4].map((n) => `content ${n}`),
    );
    expect(hits.map((hit) => hit.duplicates.length)).toEqual([3, 3, 3, 3, 3]);
  });

  test('are shown from the namespace where the content is worth most', () => {
    const { places } = rankSet(
      {
        'in the chat': { similarity: 0.6, contentHash: 'same', namespace: 'chat' },
        'in the handbook': { similarity: 0.6, contentHash: 'same', namespace: 'handbook' },
      },
      { profile, rules: [rule('handbook', 0.1)] },
    );
    expect(places).toEqual(['in the handbook']);
  });
});

describe('browsing, without a question', () => {
  test('shows the newest first, whatever the rules, and cuts nothing but by number', () => {
    const { places, missing, hits } = rankSet(
      {
        'of last year': { similarity: null, ageDays: 400, namespace: 'favoured' },
        'of today': { similarity: null, ageDays: 0 },
        'of last week': { similarity: null, ageDays: 7 },
      },
      { profile, hasQuery: false, rules: [rule('favoured', 1)], topK: 2 },
    );
    expect(places).toEqual(['of today', 'of last week']);
    expect(missing).toEqual({ 'of last year': 'top_k' });
    expect(hits.map(({ score }) => score)).toEqual([null, null]);
  });
});
