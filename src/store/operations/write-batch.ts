import { v7 as uuidv7 } from 'uuid';
import { MAX_METADATA_BYTES, MAX_TAGS } from '../../core/defaults.ts';
import { checkMetadata, mergeMetadata, mergeTags } from '../../core/entry.ts';
import { invalidInput, PalimpsestError, withItem } from '../../core/errors.ts';
import type { AuditContext, BatchWriteOptions, PreparedDraft } from '../../core/ports.ts';
import type { Access, MemoryDraft, MemoryEntry, WriteResult } from '../../core/types.ts';
import { type EntryRow, toEntry } from '../entry-row.ts';
import { type NewMemory, upsertMemories } from '../queries/memories.ts';
import { touchNamespaces } from '../queries/namespaces.ts';
import type { SqlStatement, SqlTransaction } from '../sql-database.ts';
import { isCheckViolation } from '../sql-errors.ts';
import { keepEmbeddings } from './embedding-state.ts';
import { recordAudit } from './record-audit.ts';

/** Writes a batch inside a transaction; results in the order of the drafts. */
export async function writeBatch(
  tx: SqlTransaction,
  access: Access,
  drafts: readonly PreparedDraft[],
  audit: AuditContext,
  options: BatchWriteOptions & { readonly alsoTouched?: readonly string[] } = {},
): Promise<{ results: WriteResult[]; versions: ReadonlyMap<string, number> }> {
  const { ifNew = false, namesItems = false, alsoTouched = [] } = options;
  const { tenantId, userId } = access.principal;
  const paths = new Set([...drafts.map(({ draft }) => draft.namespace), ...alsoTouched]);
  const versions = await touch(tx, tenantId, [...paths], audit.now);
  const nameItem = namesItems ? withItem : asItIs;
  const newMemory = (prepared: PreparedDraft, place: number): NewMemory => ({
    // The counter keeps a batch in its order where entries are listed by id.
    id: uuidv7({ msecs: audit.now, seq: place }),
    prepared,
    version: versions.get(prepared.draft.namespace) ?? 0,
  });
  const upsert = (some: readonly NewMemory[]) =>
    upsertChecked(tx, upsertMemories(tenantId, userId, some, audit.now));
  const memories = mergeRepeated(drafts, nameItem).map(newMemory);
  const rows = namesItems
    ? await upsertBatch(tx, upsert, memories, drafts.map(newMemory))
    : await upsert(memories);
  const written = new Map(rows.map((row) => [contentKey(row.namespace, row.content_hash), toEntry(row)]));
  const results = toResults(drafts, written, new Set(memories.map(({ id }) => id)));
  // Looked at afterwards: another writer could come between a look and the write. The transaction takes it all back.
  if (ifNew) refuseRefreshes(results, nameItem);
  refuseOvergrown(drafts, results, nameItem);
  await keepEmbeddings(
    tx,
    tenantId,
    memories.map(({ prepared }) => {
      const { id, namespace } = entryOf(written, prepared);
      return { memoryId: id, namespace, embeddings: prepared.embeddings };
    }),
    { mayHaveGaps: results.some(({ operation }) => operation === 'refresh') },
  );
  await recordAudit(
    tx,
    access,
    audit,
    results.map(({ operation, entry }) =>
      audit.isImport
        ? { action: 'write', operation: 'import', entry, detail: { result: operation } }
        : { action: 'write', operation, entry },
    ),
  );
  return { results, versions };
}

function refuseRefreshes(results: readonly WriteResult[], nameItem: NameItem): void {
  const item = results.findIndex(({ operation }) => operation === 'refresh');
  const twin = results[item];
  if (twin === undefined) return;
  const { id, namespace } = twin.entry;
  const refusal = new PalimpsestError(
    'precondition_failed',
    `An entry of ${namespace} holds this content already, and only a new entry was asked for.`,
    {
      details: [{ path: 'content', got: id, hint: 'Write it without the condition to refresh that entry.' }],
    },
  );
  throw nameItem(refusal, item);
}

/** What an entry grows to by repeated writes is bounded as any input is, or it could not be written back. */
function refuseOvergrown(
  drafts: readonly PreparedDraft[],
  results: readonly WriteResult[],
  nameItem: NameItem,
): void {
  for (const [item, { operation, entry }] of results.entries()) {
    if (operation === 'refresh' && drafts[item]?.draft.metadata !== undefined) {
      ofItem(item, nameItem, () => checkMetadata(entry.metadata));
    }
  }
}

/** A batch is all or nothing, and says which item failed. What is alone has no place to name. */
type NameItem = typeof withItem;

function asItIs(error: PalimpsestError): PalimpsestError {
  return error;
}

function ofItem<Value>(item: number, nameItem: NameItem, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw PalimpsestError.isInstance(error) ? nameItem(error, item) : error;
  }
}

/**
 * Writes a batch in one statement, which the database refuses as a whole. It is then asked about one draft after the
 * other, and the first that it refuses is the item at fault; the transaction takes back those before it.
 */
async function upsertBatch(
  tx: SqlTransaction,
  upsert: (memories: readonly NewMemory[]) => Promise<EntryRow[]>,
  distinct: readonly NewMemory[],
  all: readonly NewMemory[],
): Promise<EntryRow[]> {
  await tx.exec('SAVEPOINT batch');
  try {
    return await upsert(distinct);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await tx.exec('ROLLBACK TO SAVEPOINT batch');
    for (const [item, memory] of all.entries()) {
      try {
        await upsert([memory]);
      } catch (refusal) {
        throw isRefusal(refusal) ? withItem(refusal, item) : refusal;
      }
    }
    throw error;
  }
}

function isRefusal(error: unknown): error is PalimpsestError {
  return PalimpsestError.isInstance(error) && error.code === 'invalid_input';
}

async function touch(tx: SqlTransaction, tenantId: string, paths: readonly string[], now: number) {
  const rows = await tx.query<{ path: string; version: number }>(touchNamespaces(tenantId, paths, now));
  return new Map(rows.map((row) => [row.path, row.version]));
}

/** Repeated writes merge tags and metadata; what they grow to is bounded by the table. */
async function upsertChecked(tx: SqlTransaction, statement: SqlStatement): Promise<EntryRow[]> {
  try {
    return await tx.query<EntryRow>(statement);
  } catch (error) {
    if (isCheckViolation(error, 'memories_tags_bounded')) throw grownTooLarge('tags', `${MAX_TAGS} tags`);
    if (isCheckViolation(error, 'memories_metadata_bounded')) {
      throw grownTooLarge('metadata', `${2 * MAX_METADATA_BYTES} bytes of JSON as the database writes it`);
    }
    throw error;
  }
}

function grownTooLarge(field: 'tags' | 'metadata', allowed: string): PalimpsestError {
  return invalidInput(
    `The ${field}, together with those of an entry that holds this content already, would be more than ${allowed}.`,
    { path: field, allowed, hint: `Where there is such an entry, replace its ${field} by an update first.` },
  );
}

function contentKey(namespace: string, contentHash: string): string {
  return `${namespace} ${contentHash}`;
}

function keyOf({ draft, contentHash }: PreparedDraft): string {
  return contentKey(draft.namespace, contentHash);
}

/**
 * One statement can't refresh a row it has just made, so a text that occurs twice in a batch becomes one
 * draft that says what both say, the later one winning where they differ.
 */
function mergeRepeated(drafts: readonly PreparedDraft[], nameItem: NameItem): PreparedDraft[] {
  const distinct = new Map<string, PreparedDraft>();
  for (const [item, prepared] of drafts.entries()) {
    const earlier = distinct.get(keyOf(prepared));
    const draft =
      earlier === undefined
        ? prepared.draft
        : ofItem(item, nameItem, () => mergeDrafts(earlier.draft, prepared.draft));
    distinct.set(keyOf(prepared), { ...prepared, draft });
  }
  return [...distinct.values()];
}

function mergeDrafts(earlier: MemoryDraft, later: MemoryDraft): MemoryDraft {
  const said = Object.fromEntries(Object.entries(later).filter(([, value]) => value !== undefined));
  return {
    ...earlier,
    ...said,
    metadata: mergeMetadata(earlier.metadata ?? {}, later.metadata ?? {}),
    tags: mergeTags(earlier.tags ?? [], later.tags ?? []),
  };
}

function entryOf(written: ReadonlyMap<string, MemoryEntry>, prepared: PreparedDraft): MemoryEntry {
  const entry = written.get(keyOf(prepared));
  if (entry === undefined) throw new Error('The database did not return a row it was told to write.');
  return entry;
}

/** The first write of a text that got the id made for it created the entry; all others refreshed it. */
function toResults(
  drafts: readonly PreparedDraft[],
  written: ReadonlyMap<string, MemoryEntry>,
  newIds: ReadonlySet<string>,
): WriteResult[] {
  const created = new Set<string>();
  return drafts.map((prepared) => {
    const entry = entryOf(written, prepared);
    const isNew = newIds.has(entry.id) && !created.has(entry.id);
    created.add(entry.id);
    return { operation: isNew ? 'create' : 'refresh', entry };
  });
}
