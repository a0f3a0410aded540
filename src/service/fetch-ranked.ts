import type { CandidateBatch, CandidateQuery, ReadView } from '../core/ports.ts';
import { type Certificate, certify, factorsToBound } from '../core/ranking/certificate.ts';
import { type RankInput, type RankOutcome, rank } from '../core/ranking/rank.ts';
import type { Candidate, FactorMaxima } from '../core/types.ts';
import type { MeasuredSource } from './embeddings/read-measured.ts';

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
export interface RankedQuery extends Pick<CandidateQuery, 'filter' | 'now'> {
  /** Parts of the scope that have no namespace in common. */
  readonly sources: readonly MeasuredSource[];
  readonly ranking: Omit<RankInput, 'candidates'>;
}

/**
 * Fetches candidates and ranks them, more and more of them until the core certifies that nothing outside can
 * enter the result, or nothing is left outside. The equal contents of the hits are fetched too, so that each
 * hit's list of duplicates is complete.
 */
export async function fetchRanked(view: ReadView, query: RankedQuery): Promise<RankedFetch> {
  const bound = factorsToBound(query.ranking.profile);
  const namespaces = query.sources.flatMap((source) => source.namespaces);
  const { bySimilarity, byMoreFactors } = FIRST_FETCH_MARGIN;
  let limit = query.ranking.topK + (bound.length === 0 ? bySimilarity : byMoreFactors);
  for (;;) {
    const batch = await fetchAll(view, query, { bound, limit });
    const outcome = rank({ ...query.ranking, candidates: batch.candidates });
    const { rest, bounded } = batch;
    const proof = { ...query.ranking, outcome, rest, namespaces };
    // What an approximate index may have missed nobody bounds. It is still asked for more until what it left out could
    // not enter: a bonus may lift an entry from beyond the nearest.
    if (rest === null || certify({ ...proof, bounded: true }).exact) {
      const certificate = certify({ ...proof, bounded });
      const candidates = await withEqualContents(view, query, namespaces.length, batch, outcome);
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

/** What all sources propose, each as many as asked for. */
async function fetchAll(
  view: ReadView,
  { sources, filter, now }: RankedQuery,
  fetch: Pick<CandidateQuery, 'bound' | 'limit' | 'contentHashes'>,
): Promise<CandidateBatch> {
  const batches: CandidateBatch[] = [];
  for (const source of sources) batches.push(await view.candidates({ ...source, filter, now, ...fetch }));
  return {
    candidates: batches.flatMap(({ candidates }) => candidates),
    rest: batches.map(({ rest }) => rest).reduce(maximaOfBoth, null),
    // The one that says most: an exact scan is what is to be expected.
    index: batches.map(({ index }) => index).find((index) => index !== 'exact_scan') ?? 'exact_scan',
    bounded: batches.every(({ bounded }) => bounded),
  };
}

function maximaOfBoth(a: FactorMaxima | null, b: FactorMaxima | null): FactorMaxima | null {
  if (a === null || b === null) return a ?? b;
  return {
    similarity: Math.max(a.similarity, b.similarity),
    updatedAt: Math.max(a.updatedAt, b.updatedAt),
    importance: Math.max(a.importance, b.importance),
    accessCount: Math.max(a.accessCount, b.accessCount),
    validatedAccessCount: Math.max(a.validatedAccessCount, b.validatedAccessCount),
  };
}

/** The fetched candidates with every entry of the scope that has the content of a hit. */
async function withEqualContents(
  view: ReadView,
  query: RankedQuery,
  namespaceCount: number,
  batch: CandidateBatch,
  outcome: RankOutcome,
): Promise<readonly Candidate[]> {
  const contentHashes = outcome.hits.map(({ candidate }) => candidate.contentHash);
  // A namespace holds a live content once, so equal ones stand in different namespaces.
  const canHaveEquals = batch.rest !== null && contentHashes.length > 0 && namespaceCount > 1;
  if (!canHaveEquals) return batch.candidates;
  const limit = contentHashes.length * namespaceCount;
  const equals = await fetchAll(view, query, { bound: [], contentHashes, limit });
  const known = new Set(batch.candidates.map(({ id }) => id));
  const more = equals.candidates.filter(({ id }) => !known.has(id));
  return more.length === 0 ? batch.candidates : [...batch.candidates, ...more];
}
