import { LRUCache } from 'lru-cache';
import type { HnswSearchOptions } from '../core/vector-index.ts';
import type { MeasuredQuery } from './queries/candidates.ts';
import {
  beginHnswSearch,
  countVectors,
  endHnswSearch,
  selectIndexedModels,
  toVectorIndex,
  type VectorIndexRow,
} from './queries/vector-index.ts';
import type { SqlRow, SqlStatement, SqlTransaction } from './sql-database.ts';

/**
 * Decides which searches go by an approximate index: those of a scope too large to measure, whose model has one. What
 * it remembers between searches saves time; that it is old costs at most an exact scan more, or less.
 */
export interface HnswSearch {
  /** Whether the nearest are found by the index. */
  takesIndex(tx: SqlTransaction, tenantId: string, query: MeasuredQuery): Promise<boolean>;
  /** Runs a statement that is ordered as the index is. */
  byIndex<Row extends SqlRow>(tx: SqlTransaction, statement: SqlStatement): Promise<Row[]>;
}

const INDEXES_FRESH_MS = 10_000;
const SIZES_FRESH_MS = 60_000;
const MAX_REMEMBERED_SIZES = 10_000;

export function createHnswSearch(options: HnswSearchOptions): HnswSearch {
  let indexed: { readonly models: ReadonlyMap<string, number>; readonly until: number } | undefined;
  const isLargeByScope = new LRUCache<string, boolean>({ max: MAX_REMEMBERED_SIZES, ttl: SIZES_FRESH_MS });

  async function indexedModels(tx: SqlTransaction): Promise<ReadonlyMap<string, number>> {
    if (indexed !== undefined && performance.now() < indexed.until) return indexed.models;
    const rows = await tx.query<VectorIndexRow>(selectIndexedModels());
    const models = new Map(
      rows.flatMap((row) => {
        const index = toVectorIndex(row);
        return index === null ? [] : [[index.modelId, index.dimensions] as const];
      }),
    );
    indexed = { models, until: performance.now() + INDEXES_FRESH_MS };
    return models;
  }

  async function isLarge(tx: SqlTransaction, tenantId: string, query: MeasuredQuery): Promise<boolean> {
    const { namespaces } = query;
    const { modelId } = query.query;
    const scope = JSON.stringify([tenantId, modelId, ...namespaces]);
    const known = isLargeByScope.get(scope);
    if (known !== undefined) return known;
    const limit = options.exactUpTo + 1;
    const [row] = await tx.query<{ vectors: number }>(countVectors(tenantId, modelId, namespaces, limit));
    const found = (row?.vectors ?? 0) >= limit;
    isLargeByScope.set(scope, found);
    return found;
  }

  return {
    async takesIndex(tx, tenantId, query) {
      // Where more than similarity decides, the nearest are not the best, and an index gives the nearest.
      if (query.bound.length > 0) return false;
      const { modelId, vector } = query.query;
      if ((await indexedModels(tx)).get(modelId) !== vector.length) return false;
      return isLarge(tx, tenantId, query);
    },
    async byIndex<Row extends SqlRow>(tx: SqlTransaction, statement: SqlStatement) {
      await tx.query(beginHnswSearch(options));
      const rows = await tx.query<Row>(statement);
      await tx.query(endHnswSearch());
      return rows;
    },
  };
}
