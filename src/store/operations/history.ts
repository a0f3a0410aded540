import type { HistoryChain } from '../../core/ports.ts';
import type { Access, MemoryEntry } from '../../core/types.ts';
import { type EntryRow, toEntry } from '../entry-row.ts';
import { selectChain } from '../queries/history.ts';
import type { SqlTransaction } from '../sql-database.ts';
import { readEntry } from './locked-entry.ts';

/** The whole chain an entry belongs to, oldest first; several old entries may share one successor. */
export async function readHistory(tx: SqlTransaction, access: Access, id: string): Promise<HistoryChain> {
  const entry = await readEntry(tx, access, id);
  const { tenantId } = access.principal;
  const newer = await tx.query<EntryRow>(selectChain(tenantId, id, 'newer'));
  const newest = newestOf(newer.map(toEntry)) ?? entry;
  const chain = await tx.query<EntryRow>(selectChain(tenantId, newest.id, 'older'));
  const known = new Map([...newer, ...chain].map((row) => [row.id, toEntry(row)]));
  const missing = [...known.values()].flatMap(({ supersededBy }) =>
    supersededBy !== null && !known.has(supersededBy) ? [supersededBy] : [],
  );
  return { entries: oldestFirst(known), missing: [...new Set(missing)] };
}

/** The end of a chain: the entry whose successor is not among them. */
function newestOf(chain: readonly MemoryEntry[]): MemoryEntry | undefined {
  const ids = new Set(chain.map(({ id }) => id));
  return chain.find(({ supersededBy }) => supersededBy === null || !ids.has(supersededBy));
}

/** By the number of successors each still has, not by time: two steps can share a millisecond. */
function oldestFirst(entries: ReadonlyMap<string, MemoryEntry>): MemoryEntry[] {
  const successors = new Map<string, number>();
  for (const { id } of entries.values()) {
    let steps = 0;
    let next = entries.get(id)?.supersededBy ?? null;
    while (next !== null && steps <= entries.size) {
      steps += 1;
      next = entries.get(next)?.supersededBy ?? null;
    }
    successors.set(id, steps);
  }
  return [...entries.values()].sort(
    (a, b) => (successors.get(b.id) ?? 0) - (successors.get(a.id) ?? 0) || (a.id < b.id ? -1 : 1),
  );
}
