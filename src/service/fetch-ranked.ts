import type { CandidateBatch, CandidateQuery, ReadView } from '../core/ports.ts';
import { type Certificate, certify, factorsToBound } from '../core/ranking/certificate.ts';
import { type RankInput, type RankOutcome, rank } from '../core/ranking/rank.ts';
import type { Candidate } from '../core/types.ts';

/**
 * Candidates of the first fetch beyond `topK`. Where similarity alone decides what can still enter, a few are
 * enough. Where importance or counts decide too, the bound is weaker: on 6,000 conversation turns of mixed
 * importance 60 more were certified for a third of the queries and 250 for all, and a second scan costs more
 * than 190 rows.
 */
const FIRST_FETCH_MARGIN = { bySimilarity: 60, byMoreFactors: 250 };
/** Each further fetch asks for this many times more, so that few are needed and little is fetched twice. */
const FETCH_GROWTH = 8;

export interface RankedFetch {
  readonly outcome: RankOutcome;
  readonly certificate: Certificate;
  readonly index: CandidateBatch['index'];
  /** How many candidates were looked at. */
  readonly candidateCount: number;
}

/** What is asked of the candidate source, and how its answer is ranked. */
export interface RankedQuery {
  readonly source: Omit<CandidateQuery, 'limit' | 'bound' | 'contentHashes'>;
  readonly ranking: Omit<RankInput, 'candidates'>;
}

/**
 * Fetches candidates and ranks them, more and more of them until the core certifies that nothing outside can
 * enter the result, or nothing is left outside. The equal contents of the hits are fetched too, so that each
 * hit's list of duplicates is complete.
 */
export async function fetchRanked(view: ReadView, query: RankedQuery): Promise<RankedFetch> {
  const bound = factorsToBound(query.ranking.profile);
  const { bySimilarity, byMoreFactors } = FIRST_FETCH_MARGIN;
  let limit = query.ranking.topK + (bound.length === 0 ? bySimilarity : byMoreFactors);
  for (;;) {
    const batch = await view.candidates({ ...query.source, bound, limit });
    const outcome = rank({ ...query.ranking, candidates: batch.candidates });
    const certificate = certify({
      ...query.ranking,
      outcome,
      rest: batch.rest,
      bounded: batch.bounded,
      namespaces: query.source.namespaces,
    });
    // An unbounded source can't be certified by asking it for more.
    if (certificate.exact || batch.rest === null || !batch.bounded) {
      const candidates = await withEqualContents(view, query, batch, outcome);
      return {
        outcome: candidates === batch.candidates ? outcome : rank({ ...query.ranking, candidates }),
        certificate,
        index: batch.index,
        candidateCount: candidates.length,
      };
    }
    limit *= FETCH_GROWTH;
  }
}

/** The fetched candidates with every entry of the scope that has the content of a hit. */
async function withEqualContents(
  view: ReadView,
  query: RankedQuery,
  batch: CandidateBatch,
  outcome: RankOutcome,
): Promise<readonly Candidate[]> {
  const contentHashes = outcome.hits.map(({ candidate }) => candidate.contentHash);
  // A namespace holds a live content once, so equal ones stand in different namespaces.
  const canHaveEquals = batch.rest !== null && contentHashes.length > 0 && query.source.namespaces.length > 1;
  if (!canHaveEquals) return batch.candidates;
  const limit = contentHashes.length * query.source.namespaces.length;
  const equals = await view.candidates({ ...query.source, bound: [], contentHashes, limit });
  const known = new Set(batch.candidates.map(({ id }) => id));
  const more = equals.candidates.filter(({ id }) => !known.has(id));
  return more.length === 0 ? batch.candidates : [...batch.candidates, ...more];
}
