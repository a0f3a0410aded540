import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCandidates, anyParameters, anyProfile, anyRules } from '../../../test/helpers/arbitraries.ts';
import { candidate, NOW } from '../../../test/helpers/candidates.ts';
import { BOOSTED_PROFILE } from '../defaults.ts';
import { rank } from './rank.ts';

const PLAIN = { profile: { ...BOOSTED_PROFILE, recencyDecay: 0 }, rules: [], hasQuery: true, now: NOW };

describe('equal contents', () => {
  const candidates = [
    candidate({ id: 'copy at work', namespace: 'work', similarity: 0.7, contentHash: 'same' }),
    candidate({ id: 'best copy', namespace: 'home', similarity: 0.9, contentHash: 'same' }),
    candidate({ id: 'another', similarity: 0.8 }),
    candidate({ id: 'copy below the floor', similarity: 0.2, contentHash: 'same' }),
    candidate({ id: 'third', similarity: 0.6 }),
  ];

  test('are one hit, the best of them, which lists the others', () => {
    const { hits } = rank({ ...PLAIN, candidates, topK: 5, minScore: 0.4, relativeCutoff: 0 });
    expect(hits.map((hit) => hit.candidate.id)).toEqual(['best copy', 'another', 'third']);
    expect(hits[0]?.duplicates).toMatchObject([
      { candidate: { id: 'copy at work', namespace: 'work' }, score: 0.7 },
    ]);
    expect(hits[1]?.duplicates).toEqual([]);
  });

  test('take no slot of top_k: with three slots, three different contents come out', () => {
    const { hits } = rank({ ...PLAIN, candidates, topK: 3, minScore: 0, relativeCutoff: 0 });
    expect(hits.map((hit) => hit.candidate.id)).toEqual(['best copy', 'another', 'third']);
  });

  test('are cut by the floors first: a copy below one is no duplicate', () => {
    const { cut } = rank({ ...PLAIN, candidates, topK: 5, minScore: 0.4, relativeCutoff: 0 });
    expect(cut.map(({ candidate: { id }, reason, duplicateOf }) => ({ id, reason, duplicateOf }))).toEqual([
      { id: 'copy at work', reason: 'duplicate', duplicateOf: 'best copy' },
      { id: 'copy below the floor', reason: 'min_score', duplicateOf: null },
    ]);
  });
});

test('deduplication never costs a slot: the hits are the best of each content that clears the floors', () => {
  fc.assert(
    fc.property(
      anyCandidates,
      anyProfile,
      anyRules,
      fc.boolean(),
      anyParameters,
      (candidates, profile, rules, hasQuery, parameters) => {
        const input = { candidates, profile, rules, hasQuery, now: NOW, ...parameters };
        const { hits, cut } = rank(input);
        const kept = [...hits, ...cut].filter(
          (one) => !('reason' in one) || one.reason === 'duplicate' || one.reason === 'top_k',
        );
        const contents = new Set(kept.map((one) => one.candidate.contentHash));
        expect(hits.length).toBe(Math.min(parameters.topK, contents.size));
        expect(new Set(hits.map((hit) => hit.candidate.contentHash)).size).toBe(hits.length);
        for (const { candidate: winner, score, duplicates } of hits) {
          const equals = kept.filter(
            (one) => one.candidate.contentHash === winner.contentHash && one.candidate.id !== winner.id,
          );
          expect(duplicates.map((one) => one.candidate.id).sort()).toEqual(
            equals.map((one) => one.candidate.id).sort(),
          );
          for (const duplicate of duplicates) expect(duplicate.score ?? 0).toBeLessThanOrEqual(score ?? 0);
        }
      },
    ),
  );
});
