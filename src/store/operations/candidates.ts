import type { CandidateBatch, CandidateQuery } from '../../core/ports.ts';
import { similarityFromDistance } from '../../core/scoring/similarity.ts';
import type { Candidate, FactorMaxima } from '../../core/types.ts';
import { type CandidateRow, selectCandidates } from '../queries/candidates.ts';
import type { SqlTransaction } from '../sql-database.ts';

/** Candidates by an exact scan in SQL. */
export async function fetchCandidates(
  tx: SqlTransaction,
  tenantId: string,
  query: CandidateQuery,
): Promise<CandidateBatch> {
  if (query.namespaces.length === 0)
    return { candidates: [], rest: null, index: 'exact_scan', bounded: true };
  const rows = await tx.query<CandidateRow>(selectCandidates(tenantId, query));
  const hasQuery = query.query !== undefined;
  const candidates = rows.map((row) => toCandidate(row, hasQuery));
  return { candidates, rest: maximaOfRest(rows, candidates), index: 'exact_scan', bounded: true };
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

/**
 * Bounds over the entries that were not fetched: rows come nearest first, so no similarity outside exceeds
 * the last one's; the other factors are bounded by their maxima over the whole scope. Without a query rows
 * come newest first, and the last one's time bounds the rest in the same way.
 */
function maximaOfRest(rows: readonly CandidateRow[], candidates: readonly Candidate[]): FactorMaxima | null {
  const lastRow = rows.at(-1);
  const last = candidates.at(-1);
  if (lastRow === undefined || last === undefined || lastRow.scope_size === rows.length) return null;
  return {
    similarity: last.similarity ?? 1,
    updatedAt: last.similarity === null ? last.updatedAt : lastRow.newest_updated_at.getTime(),
    importance: lastRow.highest_importance,
    accessCount: lastRow.highest_access_count,
    validatedAccessCount: lastRow.highest_validated_access_count,
  };
}
