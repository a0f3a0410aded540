import type { CandidateBatch, CandidateQuery } from '../../core/ports.ts';
import { similarityFromDistance, similarityFromWords } from '../../core/scoring/similarity.ts';
import type { Candidate, FactorMaxima, MemoryFilter } from '../../core/types.ts';
import type { HnswSearch } from '../hnsw-search.ts';
import {
  type CandidateRow,
  type FactorRow,
  isMeasured,
  type MaximaRow,
  type MeasuredQuery,
  type NearestRow,
  selectMaxima,
  selectNearest,
  selectScoped,
} from '../queries/candidates.ts';
import { selectByWords, type WordRow } from '../queries/word-candidates.ts';
import type { SqlTransaction } from '../sql-database.ts';

/** What a statement found, and how near the entries it left out can be. Null when it left nothing out. */
interface Fetched {
  readonly candidates: readonly Candidate[];
  readonly outside: { readonly similarity: number; readonly updatedAt?: number } | null;
  readonly index: CandidateBatch['index'];
}

/**
 * Candidates by exact scans in SQL, with bounds on every factor of what was not fetched; by an approximate index where
 * `hnsw` says so, which may miss some, so that the bounds prove nothing.
 */
export async function fetchCandidates(
  tx: SqlTransaction,
  tenantId: string,
  query: CandidateQuery,
  hnsw: HnswSearch | null,
): Promise<CandidateBatch> {
  const isByWords = query.words !== undefined && query.namespaces.length > 0;
  const { candidates, outside, index } = isByWords
    ? await fetchByWords(tx, tenantId, { ...query, words: query.words ?? '' })
    : await fetchWithin(tx, tenantId, query, hnsw);
  const rest = outside === null ? null : await boundRest(tx, tenantId, query, outside);
  return { candidates, rest, index, bounded: index !== 'hnsw' };
}

async function fetchByWords(
  tx: SqlTransaction,
  tenantId: string,
  query: CandidateQuery & { readonly words: string },
): Promise<Fetched> {
  const rows = await tx.query<WordRow>(selectByWords(tenantId, query));
  const similarityOf = ({ found, asked }: WordRow) => similarityFromWords(found, asked);
  const last = rows.at(-1);
  return {
    candidates: rows.map((row) => toCandidate(row, similarityOf(row))),
    outside: last === undefined || rows.length < query.limit ? null : { similarity: similarityOf(last) },
    index: 'word_scan',
  };
}

async function fetchWithin(
  tx: SqlTransaction,
  tenantId: string,
  query: CandidateQuery,
  hnsw: HnswSearch | null,
): Promise<Fetched> {
  if (query.namespaces.length === 0) return { candidates: [], outside: null, index: 'exact_scan' };
  if (isMeasured(query) && !isNarrowed(query)) {
    const takesIndex = (await hnsw?.takesIndex(tx, tenantId, query)) ?? false;
    const nearest = await fetchNearest(tx, tenantId, query, takesIndex ? hnsw : null);
    if (nearest !== null) return nearest;
  }
  return fetchScoped(tx, tenantId, query);
}

/** A filter may leave few of the nearest vectors, so that the whole scope has to be joined anyway. */
function isNarrowed({ filter, contentHashes }: CandidateQuery): boolean {
  return contentHashes !== undefined || filterKeys(filter).length > 0;
}

function filterKeys(filter: MemoryFilter): string[] {
  return Object.entries(filter).flatMap(([key, value]) => (value === undefined ? [] : [key]));
}

/**
 * Null when the namespaces hold fewer vectors than asked for: entries without a vector then count too. Null too where an
 * index gave up before it had found as many.
 */
async function fetchNearest(
  tx: SqlTransaction,
  tenantId: string,
  query: MeasuredQuery,
  hnsw: HnswSearch | null,
): Promise<Fetched | null> {
  const statement = selectNearest(tenantId, query, hnsw !== null);
  const rows = await (hnsw?.byIndex<NearestRow>(tx, statement) ?? tx.query<NearestRow>(statement));
  const last = rows.at(-1);
  if (last === undefined || rows.length < query.limit) return null;
  const live = rows.filter((row): row is CandidateRow & { distance: number } => row.id !== null);
  return {
    candidates: live.map((row) => toCandidate(row, similarityFromDistance(row.distance))),
    outside: { similarity: similarityFromDistance(last.distance) },
    index: hnsw === null ? 'exact_scan' : 'hnsw',
  };
}

async function fetchScoped(tx: SqlTransaction, tenantId: string, query: CandidateQuery): Promise<Fetched> {
  const hasQuery = query.query !== undefined;
  const rows = await tx.query<CandidateRow>(selectScoped(tenantId, query));
  const candidates = rows.map((row) =>
    toCandidate(row, hasQuery ? similarityFromDistance(row.distance) : null),
  );
  const last = candidates.at(-1);
  if (last === undefined || rows.length < query.limit) {
    return { candidates, outside: null, index: 'exact_scan' };
  }
  return {
    candidates,
    // Without a query rows come newest first, so the last one's time bounds the rest.
    outside:
      last.similarity === null
        ? { similarity: 1, updatedAt: last.updatedAt }
        : { similarity: last.similarity },
    index: 'exact_scan',
  };
}

function toCandidate(row: FactorRow, similarity: number | null): Candidate {
  return {
    id: row.id,
    namespace: row.namespace,
    contentHash: row.content_hash,
    similarity,
    updatedAt: row.updated_at.getTime(),
    importance: row.importance,
    accessCount: row.access_count,
    validatedAccessCount: row.validated_access_count,
  };
}

async function boundRest(
  tx: SqlTransaction,
  tenantId: string,
  query: CandidateQuery,
  outside: { readonly similarity: number; readonly updatedAt?: number },
): Promise<FactorMaxima> {
  const [row] = await tx.query<MaximaRow>(selectMaxima(tenantId, query));
  return {
    similarity: outside.similarity,
    updatedAt: outside.updatedAt ?? row?.updated_at?.getTime() ?? Number.POSITIVE_INFINITY,
    importance: row?.importance ?? 1,
    accessCount: row?.access_count ?? Number.POSITIVE_INFINITY,
    validatedAccessCount: row?.validated_access_count ?? Number.POSITIVE_INFINITY,
  };
}
