import { describe, expect, test } from 'vitest';
import { refusal } from '../../../test/helpers/refusal.ts';
import { BOOSTED_PROFILE, WEIGHTED_PROFILE } from '../defaults.ts';
import { resolveRankingParameters } from './parameters.ts';

describe('resolveRankingParameters', () => {
  test('takes the profile where nothing is said', () => {
    expect(resolveRankingParameters(BOOSTED_PROFILE, {})).toEqual({
      topK: 5,
      minScore: 0.4,
      relativeCutoff: 0.7,
    });
    expect(resolveRankingParameters(WEIGHTED_PROFILE, {})).toEqual({
      topK: 5,
      minScore: 0,
      relativeCutoff: 0,
    });
  });

  test('takes the request over the profile, each number on its own', () => {
    expect(
      resolveRankingParameters(BOOSTED_PROFILE, { topK: 20, minScore: undefined, relativeCutoff: 0.5 }),
    ).toEqual({
      topK: 20,
      minScore: 0.4,
      relativeCutoff: 0.5,
    });
  });

  test.each(['minScore', 'relativeCutoff'] as const)('0 is a value: %s 0 is not the default', (name) => {
    expect(BOOSTED_PROFILE[name]).toBeGreaterThan(0);
    expect(resolveRankingParameters(BOOSTED_PROFILE, { [name]: 0 })[name]).toBe(0);
    expect(resolveRankingParameters({ ...BOOSTED_PROFILE, [name]: 0 }, {})[name]).toBe(0);
  });

  test('takes a floor above 1, since a relevance can exceed it', () => {
    expect(resolveRankingParameters(BOOSTED_PROFILE, { minScore: 1.2 }).minScore).toBe(1.2);
  });

  test.each([
    { topK: 0 },
    { topK: 201 },
    { topK: 1.5 },
    { topK: -1 },
    { topK: Number.NaN },
    { minScore: -0.1 },
    { minScore: Number.NaN },
    { minScore: Number.POSITIVE_INFINITY },
    { relativeCutoff: -0.1 },
    { relativeCutoff: 1.1 },
    { relativeCutoff: Number.NaN },
  ])('refuses %o, naming the field and what is allowed', (request) => {
    const wireName = { topK: 'top_k', minScore: 'min_score', relativeCutoff: 'relative_cutoff' };
    const [name = 'topK'] = Object.keys(request) as (keyof typeof wireName)[];
    const error = refusal(() => resolveRankingParameters(BOOSTED_PROFILE, request));
    expect(error.code).toBe('invalid_input');
    expect(error.details[0]).toMatchObject({ path: wireName[name], allowed: expect.any(String) });
  });
});
