import { DEFAULT_TOP_K } from '../../src/core/defaults.ts';
import { resolveRankingParameters } from '../../src/core/ranking/parameters.ts';
import { rank } from '../../src/core/ranking/rank.ts';
import type { CutReason, NamespaceRule, RankingProfile } from '../../src/core/types.ts';
import { type CandidateFacts, candidate, NOW } from './candidates.ts';

/** Memories by a name that says what they are. Similarities are to the question that the set is about. */
export type RankingSet = Readonly<Record<string, Omit<CandidateFacts, 'id'>>>;

export interface Circumstances {
  readonly profile: RankingProfile;
  readonly rules?: readonly NamespaceRule[];
  /** Default true. */
  readonly hasQuery?: boolean;
  readonly topK?: number;
  readonly minScore?: number;
  readonly relativeCutoff?: number;
}

/** Ranks a set as a request would that says nothing but the circumstances. */
export function rankSet(
  set: RankingSet,
  { profile, rules = [], hasQuery = true, ...request }: Circumstances,
) {
  const outcome = rank({
    candidates: Object.entries(set).map(([id, facts]) => candidate({ ...facts, id })),
    profile,
    rules,
    hasQuery,
    now: NOW,
    ...resolveRankingParameters(profile, { topK: DEFAULT_TOP_K, ...request }),
  });
  return {
    /** Names of the hits, best first. */
    places: outcome.hits.map((hit) => hit.candidate.id),
    /** Why each of the others is missing, by name. */
    missing: Object.fromEntries(
      outcome.cut.map(({ candidate: { id }, reason }): [string, CutReason] => [id, reason]),
    ),
    hits: outcome.hits,
  };
}
