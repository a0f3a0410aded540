import { notFound, PalimpsestError } from '../../core/errors.ts';
import type { Access, MemoryEntry } from '../../core/types.ts';
import { type EntryRow, toEntry } from '../entry-row.ts';
import { type EntryChange, selectEntries, updateEntry } from '../queries/memories.ts';
import { bumpNamespace } from '../queries/namespaces.ts';
import type { SqlTransaction } from '../sql-database.ts';

/** Shape of every id this store hands out; anything else can't exist. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isEntryId(id: string): boolean {
  return UUID.test(id);
}

/** An entry the asker may read, in any state of its life. A foreign id answers like an unknown one. */
export async function readEntry(tx: SqlTransaction, access: Access, id: string): Promise<MemoryEntry> {
  if (!isEntryId(id)) throw notFound('memory entry', id);
  const [row] = await tx.query<EntryRow>(selectEntries(access.principal.tenantId, [id]));
  if (row === undefined) throw notFound('memory entry', id);
  return toEntry(row);
}

/**
 * An entry with its namespace locked for this transaction, and the version the change will carry. The
 * namespace is locked before any entry, here and in a batch alike, so that writers can't wait in a circle.
 */
export async function lockEntry(
  tx: SqlTransaction,
  access: Access,
  id: string,
  now: number,
): Promise<{ entry: MemoryEntry; version: number }> {
  const { namespace } = await readEntry(tx, access, id);
  const [bumped] = await tx.query<{ version: number }>(
    bumpNamespace(access.principal.tenantId, namespace, now),
  );
  if (bumped === undefined) throw readOnly(namespace);
  // Read again: another writer may have changed it while we waited for the lock.
  return { entry: await readEntry(tx, access, id), version: bumped.version };
}

/** Changes an entry that `lockEntry` has locked. */
export async function changeEntry(
  tx: SqlTransaction,
  access: Access,
  id: string,
  version: number,
  change: EntryChange,
): Promise<MemoryEntry> {
  const [row] = await tx.query<EntryRow>(updateEntry(access.principal.tenantId, id, version, change));
  if (row === undefined) throw notFound('memory entry', id);
  return toEntry(row);
}

function readOnly(namespace: string): PalimpsestError {
  return new PalimpsestError('forbidden', `You may read the namespace ${namespace}, but not write to it.`, {
    details: [
      {
        path: 'namespace',
        got: namespace,
        hint: 'Ask an administrator for a policy that allows writing there.',
      },
    ],
  });
}
