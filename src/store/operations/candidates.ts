import type { CandidateBatch, CandidateQuery } from '../../core/ports.ts';
import { similarityFromDistance } from '../../core/scoring/similarity.ts';
import type { Candidate, FactorMaxima, MemoryFilter } from '../../core/types.ts';
import {
  type CandidateRow,
  isMeasured,
  type MaximaRow,
  type MeasuredQuery,
  type NearestRow,
  selectMaxima,
  selectNearest,
  selectScoped,
} from '../queries/candidates.ts';
import type { SqlTransaction } from '../sql-database.ts';

/** What a statement found, and how near the entries it left out can be. Null when it left nothing out. */
interface Fetched {
  readonly candidates: readonly Candidate[];
  readonly outside: { readonly similarity: number; readonly updatedAt?: number } | null;
}

/** Candidates by exact scans in SQL, with bounds on every factor of what was not fetched. */
export async function fetchCandidates(
  tx: SqlTransaction,
  tenantId: string,
  query: CandidateQuery,
): Promise<CandidateBatch> {
  const { candidates, outside } = await fetchWithin(tx, tenantId, query);
  const rest = outside === null ? null : await boundRest(tx, tenantId, query, outside);
  return { candidates, rest, index: 'exact_scan', bounded: true };
}

async function fetchWithin(tx: SqlTransaction, tenantId: string, query: CandidateQuery): Promise<Fetched> {
  if (query.namespaces.length === 0) return { candidates: [], outside: null };
  if (isMeasured(query) && !isNarrowed(query)) {
    const nearest = await fetchNearest(tx, tenantId, query);
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

/** Null when the namespaces hold fewer vectors than asked for: entries without a vector then count too. */
async function fetchNearest(
  tx: SqlTransaction,
  tenantId: string,
  query: MeasuredQuery,
): Promise<Fetched | null> {
  const rows = await tx.query<NearestRow>(selectNearest(tenantId, query));
  const last = rows.at(-1);
  if (last === undefined || rows.length < query.limit) return null;
  const live = rows.filter((row): row is CandidateRow & { distance: number } => row.id !== null);
  return {
    candidates: live.map((row) => toCandidate(row, true)),
    outside: { similarity: similarityFromDistance(last.distance) },
  };
}

async function fetchScoped(tx: SqlTransaction, tenantId: string, query: CandidateQuery): Promise<Fetched> {
  const hasQuery = query.query !== undefined;
  const rows = await tx.query<CandidateRow>(selectScoped(tenantId, query));
  const candidates = rows.map((row) => toCandidate(row, hasQuery));
  const last = candidates.at(-1);
  if (last === undefined || rows.length < query.limit) return { candidates, outside: null };
  return {
    candidates,
    // Without a query rows come newest first, so the last one's time bounds the rest.
    outside:
      last.similarity === null
        ? { similarity: 1, updatedAt: last.updatedAt }
        : { similarity: last.similarity },
  };
}

function toCandidate(row: CandidateRow, hasQuery: boolean): Candidate {
  return {
    id: row.id,
    namespace: row.namespace,
    contentHash: row.content_hash,
    similarity: hasQuery ? similarityFromDistance(row.distance) : null,
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
