import type { EmbeddingState } from '../../core/embedding-state.ts';
import type {
  CandidateBatch,
  CandidateQuery,
  NamespaceState,
  ReadView,
  ScopePatterns,
} from '../../core/ports.ts';
import type { Access, EntryEmbedding, MemoryEntry, NamespaceRule, RankingProfile } from '../../core/types.ts';
import { type EntryRow, toEntry } from '../entry-row.ts';
import type { HnswSearch } from '../hnsw-search.ts';
import { countWaiting, type EntryEmbeddingRow, selectEntryEmbeddings } from '../queries/embedding/gaps.ts';
import { type ProfileRow, selectProfile, toProfile } from '../queries/governance/profiles.ts';
import { selectEntries } from '../queries/memories.ts';
import { selectNamespaces } from '../queries/namespaces.ts';
import type { SqlTransaction } from '../sql-database.ts';
import { fetchCandidates } from './candidates.ts';
import { readEmbeddingState } from './embedding-state.ts';
import { isEntryId } from './locked-entry.ts';
import { readRules } from './rules.ts';

/** One snapshot of the store, as one principal may see it. */
export class SqlReadView implements ReadView {
  private readonly tx: SqlTransaction;
  private readonly tenantId: string;

  private readonly hnsw: HnswSearch | null;

  /** @param hnsw - Null where every search is exact. */
  constructor(tx: SqlTransaction, access: Access, hnsw: HnswSearch | null) {
    this.tx = tx;
    this.tenantId = access.principal.tenantId;
    this.hnsw = hnsw;
  }

  async namespaces(scope: ScopePatterns): Promise<NamespaceState[]> {
    const rows = await this.tx.query<{ path: string; version: number }>(
      selectNamespaces(this.tenantId, scope),
    );
    return rows.map(({ path, version }) => ({ path, version }));
  }

  rules(): Promise<NamespaceRule[]> {
    return readRules(this.tx, this.tenantId);
  }

  async profile(name: string): Promise<RankingProfile | null> {
    const [row] = await this.tx.query<ProfileRow>(selectProfile(this.tenantId, name));
    return row === undefined ? null : toProfile(row).profile;
  }

  candidates(query: CandidateQuery): Promise<CandidateBatch> {
    return fetchCandidates(this.tx, this.tenantId, query, this.hnsw);
  }

  embeddingState(): Promise<EmbeddingState> {
    return readEmbeddingState(this.tx, this.tenantId);
  }

  async waitingEntries(modelId: string, namespaces: readonly string[]): Promise<number> {
    const [row] = await this.tx.query<{ waiting: number }>(countWaiting(this.tenantId, modelId, namespaces));
    return row?.waiting ?? 0;
  }

  async entryEmbeddings(id: string): Promise<EntryEmbedding[]> {
    const rows = await this.tx.query<EntryEmbeddingRow>(selectEntryEmbeddings(this.tenantId, id));
    return rows.map(({ model_id: modelId, coverage }) => ({ modelId, coverage }));
  }

  async entries(ids: readonly string[]): Promise<MemoryEntry[]> {
    const possible = ids.filter(isEntryId).map((id) => id.toLowerCase());
    if (possible.length === 0) return [];
    const rows = await this.tx.query<EntryRow>(selectEntries(this.tenantId, possible));
    const byId = new Map(rows.map((row) => [row.id, toEntry(row)]));
    return possible.flatMap((id) => byId.get(id) ?? []);
  }
}
