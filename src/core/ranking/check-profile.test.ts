import { expect, test } from 'vitest';
import { refusal } from '../../../test/helpers/refusal.ts';
import { BOOSTED_PROFILE, WEIGHTED_PROFILE } from '../defaults.ts';
import type { BoostedProfile, SignalWeights, WeightedProfile } from '../types.ts';
import { checkProfile } from './check-profile.ts';

const boosted = (overrides: Partial<BoostedProfile>) => () =>
  checkProfile({ ...BOOSTED_PROFILE, ...overrides });
const weighted = (overrides: Partial<WeightedProfile>) => () =>
  checkProfile({ ...WEIGHTED_PROFILE, ...overrides });
const weights = (overrides: Partial<SignalWeights>) =>
  weighted({ weights: { similarity: 0, recency: 0, importance: 0, frequency: 0, ...overrides } });

test('the built-in profiles pass, and every number at the ends of its range', () => {
  for (const profile of [BOOSTED_PROFILE, WEIGHTED_PROFILE]) expect(checkProfile(profile)).toBe(profile);
  for (const check of [
    boosted({ recencyDecay: 0, minScore: 0, relativeCutoff: 0, topK: 1 }),
    boosted({ recencyDecay: 1, minScore: 50, relativeCutoff: 1, topK: 200 }),
    weights({ importance: 1 }),
    weights({ similarity: 0.1, recency: 0.2, importance: 0.7 }),
    weighted({ halfLifeDays: 1e-9, frequencySaturation: 1 }),
  ]) {
    expect(check).not.toThrow();
  }
});

test.each([
  ['a decay below 0', boosted({ recencyDecay: -0.01 }), 'recency_decay'],
  ['a decay above 1', boosted({ recencyDecay: 1.01 }), 'recency_decay'],
  ['a decay that is no number', boosted({ recencyDecay: Number.NaN }), 'recency_decay'],
  ['a floor below 0', boosted({ minScore: -1 }), 'min_score'],
  ['a cutoff above 1', boosted({ relativeCutoff: 1.1 }), 'relative_cutoff'],
  ['no hit', boosted({ topK: 0 }), 'top_k'],
  ['half a hit', weighted({ topK: 1.5 }), 'top_k'],
  ['a negative weight', weights({ similarity: -0.1, recency: 0.5 }), 'weights.similarity'],
  ['a weight above 1', weights({ importance: 1.1 }), 'weights.importance'],
  [
    'weights above 1 together, so that a score could be',
    weights({ similarity: 0.6, recency: 0.5 }),
    'weights',
  ],
  ['no weight at all', weights({}), 'weights'],
  ['a half-life of 0', weighted({ halfLifeDays: 0 }), 'half_life_days'],
  ['an endless half-life', weighted({ halfLifeDays: Number.POSITIVE_INFINITY }), 'half_life_days'],
  ['a saturation below 1', weighted({ frequencySaturation: 0.5 }), 'frequency_saturation'],
  ['a blank name', boosted({ name: ' ' }), 'name'],
  ['a long name', boosted({ name: 'x'.repeat(65) }), 'name'],
])('%s is refused', (_, check, path) => {
  const refused = refusal(check);
  expect(refused.code).toBe('invalid_input');
  expect(refused.details[0]?.path).toBe(path);
});
