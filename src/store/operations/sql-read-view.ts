import type {
  CandidateBatch,
  CandidateQuery,
  NamespaceState,
  ReadView,
  ScopePatterns,
} from '../../core/ports.ts';
import type { Access, MemoryEntry, NamespaceRule, RankingProfile } from '../../core/types.ts';
import { type EntryRow, toEntry } from '../entry-row.ts';
import { type ProfileRow, selectProfile, toProfile } from '../queries/governance/profiles.ts';
import { selectEntries } from '../queries/memories.ts';
import { selectNamespaces } from '../queries/namespaces.ts';
import type { SqlTransaction } from '../sql-database.ts';
import { fetchCandidates } from './candidates.ts';
import { isEntryId } from './locked-entry.ts';
import { readRules } from './rules.ts';

/** One snapshot of the store, as one principal may see it. */
export class SqlReadView implements ReadView {
  private readonly tx: SqlTransaction;
  private readonly tenantId: string;

  constructor(tx: SqlTransaction, access: Access) {
    this.tx = tx;
    this.tenantId = access.principal.tenantId;
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
    return fetchCandidates(this.tx, this.tenantId, query);
  }

  async entries(ids: readonly string[]): Promise<MemoryEntry[]> {
    const possible = ids.filter(isEntryId).map((id) => id.toLowerCase());
    if (possible.length === 0) return [];
    const rows = await this.tx.query<EntryRow>(selectEntries(this.tenantId, possible));
    const byId = new Map(rows.map((row) => [row.id, toEntry(row)]));
    return possible.flatMap((id) => byId.get(id) ?? []);
  }
}
