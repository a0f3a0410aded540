import fc from 'fast-check';
import { BOOSTED_PROFILE, WEIGHTED_PROFILE } from '../../src/core/defaults.ts';
import type { Candidate, NamespaceRule, RankingProfile } from '../../src/core/types.ts';
import { candidate, DAY, NOW, rule } from './candidates.ts';

/*
 * Values for property tests. Each is drawn from few values as often as from many, so that ties, duplicates and
 * scores that fall exactly on a floor happen in most runs.
 */

const share = fc.double({ min: 0, max: 1, noNaN: true });
const fewOrMany = fc.oneof(fc.constantFrom(0, 0.4, 0.5, 0.8, 1), share);
const namespace = fc.constantFrom(
  'notes',
  'notes.work',
  'vector.agent.u1.howto',
  'vector.global.faq',
  'größe.日本',
);

/** Any entry's ranking factors, its time from two days ahead to years back. */
export const anyCandidate: fc.Arbitrary<Candidate> = fc
  .record({
    namespace,
    contentHash: fc.constantFrom('h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7', 'h8'),
    similarity: fewOrMany,
    updatedAt: fc
      .oneof(fc.constantFrom(-2, 0, 1, 14), fc.double({ min: -2, max: 2000, noNaN: true }))
      .map((days) => Math.round(NOW - days * DAY)),
    importance: fewOrMany,
    accessCount: fc.nat({ max: 150 }),
    validatedAccessCount: fc.oneof(fc.constant(0), fc.nat({ max: 150 })),
  })
  .map((facts) => candidate({ id: '0', ...facts }));

/** A set of candidates with distinct ids, in any order. */
export const anyCandidates: fc.Arbitrary<Candidate[]> = fc
  .array(anyCandidate, { maxLength: 30 })
  .chain((entries) => {
    const numbered = entries.map((entry, index) => ({
      ...entry,
      id: `id-${String(index).padStart(2, '0')}`,
    }));
    return shuffled(numbered);
  });

/** The same list in any order. */
export function shuffled<Item>(items: Item[]): fc.Arbitrary<Item[]> {
  return fc.shuffledSubarray(items, { minLength: items.length, maxLength: items.length });
}

/** Up to four rules with different patterns, some of which cover the namespaces above. */
export const anyRules: fc.Arbitrary<NamespaceRule[]> = fc
  .uniqueArray(
    fc.record({
      pattern: fc.constantFrom(
        'notes',
        'notes.*',
        '*',
        'vector.agent.${user_id}.howto',
        'vector.*',
        'elsewhere',
      ),
      bonus: fewOrMany,
    }),
    { selector: ({ pattern }) => pattern, maxLength: 4 },
  )
  .map((rules) => rules.map(({ pattern, bonus }) => rule(pattern, bonus)));

export const anyProfile: fc.Arbitrary<RankingProfile> = fc.oneof(
  fc.constantFrom<RankingProfile>(BOOSTED_PROFILE, WEIGHTED_PROFILE),
  fc
    .record({ recencyDecay: fewOrMany })
    .map(({ recencyDecay }): RankingProfile => ({ ...BOOSTED_PROFILE, recencyDecay })),
  fc
    .record({
      weights: fc.record({
        similarity: fewOrMany,
        recency: fewOrMany,
        importance: fewOrMany,
        frequency: fewOrMany,
      }),
      halfLifeDays: fc.double({ min: 0.1, max: 1000, noNaN: true }),
      frequencySaturation: fc.integer({ min: 1, max: 200 }),
      frequencySource: fc.constantFrom('validated_access_count' as const, 'access_count' as const),
    })
    .map((parameters): RankingProfile => ({ ...WEIGHTED_PROFILE, ...parameters })),
);

/** Floors and a number of hits, each often at the end of its range. */
export const anyParameters = fc.record({
  topK: fc.integer({ min: 1, max: 8 }),
  minScore: fc.constantFrom(0, 0.4, 0.5, 0.9),
  relativeCutoff: fc.constantFrom(0, 0.5, 0.7, 1),
});
