import { conflict, PalimpsestError } from '../../core/errors.ts';
import type { AuditContext, PreparedPatch, Successor } from '../../core/ports.ts';
import type { Access, MemoryEntry, MemoryStatus } from '../../core/types.ts';
import type { EntryRow } from '../entry-row.ts';
import { deleteGapsOf } from '../queries/embedding/gaps.ts';
import { deleteOtherEmbeddings } from '../queries/embeddings.ts';
import { selectChain } from '../queries/history.ts';
import { changeOfPatch, deleteEntry, type EntryChange, selectLiveByContent } from '../queries/memories.ts';
import type { SqlTransaction } from '../sql-database.ts';
import { isUniqueViolation } from '../sql-errors.ts';
import { sqlTime } from '../sql-parameters.ts';
import { keepEmbeddings } from './embedding-state.ts';
import { changeEntry, lockEntry, readEntry } from './locked-entry.ts';
import { recordAudit } from './record-audit.ts';
import { writeBatch } from './write-batch.ts';

/** The changes of one entry's life. Each is one transaction's work, with its audit row. */

/** Changes what a patch names and nothing else. */
export async function updateOne(
  tx: SqlTransaction,
  access: Access,
  id: string,
  prepared: PreparedPatch,
  audit: AuditContext,
  ifVersion: number | undefined,
): Promise<MemoryEntry> {
  const { entry, version } = await lockEntry(tx, access, id, audit.now);
  if (ifVersion !== undefined && entry.version !== ifVersion) throw changedMeanwhile(entry, ifVersion);
  refuseDeleted(entry, 'changed');
  const changesContent = prepared.contentHash !== undefined && prepared.contentHash !== entry.contentHash;
  if (changesContent && entry.status === 'superseded') {
    throw conflict(`The entry ${id} is superseded: its text is history and can't be changed.`, {
      path: 'content',
      hint: `Change its successor ${entry.supersededBy}, or supersede that one.`,
    });
  }
  const change = {
    ...changeOfPatch(prepared.patch),
    ...(changesContent ? changeOfContent(entry, prepared, audit.now) : {}),
  };
  const updated = await changeUniqueContent(tx, access, entry, version, change);
  if (changesContent) await replaceEmbeddings(tx, access, updated, prepared);
  await recordAudit(tx, access, audit, [
    { action: 'write', operation: 'update', entry: updated, detail: { fields: namesOfChange(prepared) } },
    ...(changesContent && entry.status === 'confirmed'
      ? [statusEvent(updated, 'confirmed', 'unconfirmed')]
      : []),
  ]);
  return updated;
}

/** New text, new hash, new age, and no confirmation: the confirmed text is gone. */
function changeOfContent(entry: MemoryEntry, prepared: PreparedPatch, now: number): EntryChange {
  return {
    ...(prepared.patch.content !== undefined && { content: prepared.patch.content }),
    ...(prepared.contentHash !== undefined && { content_hash: prepared.contentHash }),
    updated_at: sqlTime(Math.max(now, entry.updatedAt.getTime())),
    status: 'unconfirmed',
    confirmed_at: null,
    confirmed_by: null,
  };
}

async function replaceEmbeddings(
  tx: SqlTransaction,
  access: Access,
  { id, namespace }: MemoryEntry,
  prepared: PreparedPatch,
): Promise<void> {
  const { tenantId } = access.principal;
  const embeddings = prepared.embeddings ?? [];
  const kept = embeddings.filter(({ vector }) => vector !== null).map(({ modelId }) => modelId);
  await tx.query(deleteOtherEmbeddings(tenantId, id, kept));
  await tx.query(deleteGapsOf(tenantId, id));
  await keepEmbeddings(tx, tenantId, [{ memoryId: id, namespace, embeddings }], { mayHaveGaps: false });
}

function namesOfChange(prepared: PreparedPatch): string[] {
  return Object.entries(prepared.patch).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

/** Moves an entry between `unconfirmed` and `confirmed`. Confirming again keeps the first confirmation. */
export async function setConfirmed(
  tx: SqlTransaction,
  access: Access,
  id: string,
  confirmed: boolean,
  audit: AuditContext,
): Promise<MemoryEntry> {
  const { entry, version } = await lockEntry(tx, access, id, audit.now);
  const to: MemoryStatus = confirmed ? 'confirmed' : 'unconfirmed';
  refuseDeleted(entry, to);
  if (entry.status === 'superseded') {
    throw conflict(`The entry ${id} is superseded and can't be ${to}.`, {
      hint: `Use its successor ${entry.supersededBy}.`,
    });
  }
  if (entry.status === to) return entry;
  const updated = await changeEntry(tx, access, id, version, {
    status: to,
    confirmed_at: confirmed ? sqlTime(audit.now) : null,
    confirmed_by: confirmed ? access.principal.userId : null,
  });
  await recordAudit(tx, access, audit, [statusEvent(updated, entry.status, to)]);
  return updated;
}

/** Writes or names the successor and marks the old entry, in one transaction. */
export async function supersedeOne(
  tx: SqlTransaction,
  access: Access,
  oldId: string,
  successor: Successor,
  audit: AuditContext,
): Promise<{ superseded: MemoryEntry; successor: MemoryEntry }> {
  const newer = await settleSuccessor(tx, access, oldId, successor, audit);
  const { entry: old, version } = await lockEntry(tx, access, oldId, audit.now);
  refuseDeleted(old, 'superseded');
  if (newer.id === old.id) {
    throw conflict(
      `The entry ${oldId} can't supersede itself: the new content is the one it already holds.`,
      {
        path: 'content',
        hint: 'Send the new text, or confirm the entry instead.',
      },
    );
  }
  if (old.supersededBy !== null) {
    throw conflict(`The entry ${oldId} is superseded already, by ${old.supersededBy}.`, {
      hint: `Supersede the newest of the chain instead.`,
    });
  }
  await refuseCycle(tx, access, old, newer);
  const superseded = await changeEntry(tx, access, oldId, version, {
    status: 'superseded',
    superseded_by: newer.id,
    superseded_at: sqlTime(audit.now),
  });
  await recordAudit(tx, access, audit, [
    {
      ...statusEvent(superseded, old.status, 'superseded'),
      detail: { from: old.status, to: 'superseded', superseded_by: newer.id },
    },
  ]);
  return { superseded, successor: newer };
}

/** Locks both namespaces in the order of their paths, and gives the entry that will be the newer one. */
async function settleSuccessor(
  tx: SqlTransaction,
  access: Access,
  oldId: string,
  successor: Successor,
  audit: AuditContext,
): Promise<MemoryEntry> {
  const old = await readEntry(tx, access, oldId);
  if ('draft' in successor) {
    const { results } = await writeBatch(tx, access, [successor.draft], audit, {
      alsoTouched: [old.namespace],
    });
    const [written] = results;
    if (written === undefined) throw new Error('A batch of one gave no result.');
    return written.entry;
  }
  const newer = await readEntry(tx, access, successor.id);
  const inOrder = [old, newer].sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
  for (const { id } of inOrder) await lockEntry(tx, access, id, audit.now);
  const locked = await readEntry(tx, access, successor.id);
  refuseDeleted(locked, 'a successor');
  return locked;
}

async function refuseCycle(
  tx: SqlTransaction,
  access: Access,
  old: MemoryEntry,
  newer: MemoryEntry,
): Promise<void> {
  const chain = await tx.query<EntryRow>(selectChain(access.principal.tenantId, newer.id, 'newer'));
  if (chain.some(({ id }) => id === old.id)) {
    throw conflict(`The entry ${newer.id} is itself superseded by ${old.id}: this would be a circle.`, {
      hint: 'An entry can only be superseded by one that is newer in its chain.',
    });
  }
}

/** Soft delete. Deleting again changes nothing. */
export async function forgetOne(
  tx: SqlTransaction,
  access: Access,
  id: string,
  audit: AuditContext,
): Promise<MemoryEntry> {
  const { entry, version } = await lockEntry(tx, access, id, audit.now);
  if (entry.deletedAt !== null) return entry;
  const deleted = await changeEntry(tx, access, id, version, { deleted_at: sqlTime(audit.now) });
  await recordAudit(tx, access, audit, [{ action: 'delete', operation: 'forget', entry: deleted }]);
  return deleted;
}

/** Undoes a soft delete. Restoring what is not deleted changes nothing. */
export async function restoreOne(
  tx: SqlTransaction,
  access: Access,
  id: string,
  audit: AuditContext,
): Promise<MemoryEntry> {
  const { entry, version } = await lockEntry(tx, access, id, audit.now);
  if (entry.deletedAt === null) return entry;
  const restored = await changeUniqueContent(tx, access, entry, version, { deleted_at: null });
  await recordAudit(tx, access, audit, [{ action: 'write', operation: 'restore', entry: restored }]);
  return restored;
}

/** Removes an entry from disk, with its embeddings and feedback. Its audit rows stay, without its text. */
export async function purgeOne(
  tx: SqlTransaction,
  access: Access,
  id: string,
  audit: AuditContext,
): Promise<void> {
  const { entry } = await lockEntry(tx, access, id, audit.now);
  const { tenantId } = access.principal;
  await tx.query(deleteOtherEmbeddings(tenantId, id, []));
  await tx.query(deleteGapsOf(tenantId, id));
  await tx.query(deleteEntry(tenantId, id));
  await recordAudit(tx, access, audit, [{ action: 'delete', operation: 'purge', entry }]);
}

/**
 * A change after which another live entry may hold the same content. Checked by reading under the
 * namespace's lock, which every writer takes: a violated index would abort the transaction, and with it the
 * chance to say which entry stands in the way.
 */
async function changeUniqueContent(
  tx: SqlTransaction,
  access: Access,
  entry: MemoryEntry,
  version: number,
  change: EntryChange,
): Promise<MemoryEntry> {
  const hash = change.content_hash ?? entry.contentHash;
  if (entry.supersededBy === null) {
    const [twin] = await tx.query<EntryRow>(
      selectLiveByContent(access.principal.tenantId, entry.namespace, hash),
    );
    if (twin !== undefined && twin.id !== entry.id) throw sameContent(entry, twin.id);
  }
  try {
    return await changeEntry(tx, access, entry.id, version, change);
  } catch (error) {
    if (isUniqueViolation(error, 'memories_live_content')) throw sameContent(entry, null);
    throw error;
  }
}

function sameContent(entry: MemoryEntry, twinId: string | null): PalimpsestError {
  const twin = twinId === null ? 'Another entry' : `The entry ${twinId}`;
  return conflict(`${twin} of ${entry.namespace} already holds this content.`, {
    path: 'content',
    hint: 'Change or forget that entry first, or keep it and leave this one.',
  });
}

function refuseDeleted(entry: MemoryEntry, intent: string): void {
  if (entry.deletedAt === null) return;
  throw conflict(`The entry ${entry.id} is deleted and can't be ${intent}.`, {
    hint: 'Restore it first.',
  });
}

function changedMeanwhile(entry: MemoryEntry, ifVersion: number): PalimpsestError {
  return new PalimpsestError('precondition_failed', `The entry ${entry.id} has changed since it was read.`, {
    details: [
      {
        path: 'version',
        got: ifVersion,
        allowed: entry.version,
        hint: 'Read it again, then repeat the change.',
      },
    ],
  });
}

function statusEvent(entry: MemoryEntry, from: MemoryStatus, to: MemoryStatus) {
  return { action: 'status' as const, operation: null, entry, detail: { from, to } };
}
