import { MAX_BATCH_SIZE } from '../../core/defaults.ts';
import { type ErrorCode, PalimpsestError } from '../../core/errors.ts';
import type { MemoryEntry } from '../../core/types.ts';
import type { MemoryBackend } from '../memory-backend.ts';
import { entriesByKey } from './entry-pages.ts';
import { metadataOfItem, type StoredItem } from './stored-item.ts';

/** An item as it is to be written. */
export interface ItemDraft extends StoredItem {
  /** What stands for the value in searches, and what a person reads. */
  readonly text: string;
  /** When it stops being there; null: never. */
  readonly expiresAt: Date | null;
}

type WritableMemory = Pick<MemoryBackend, 'list' | 'remember' | 'rememberMany' | 'update' | 'forget'>;

/** How often a write begins anew because others write the same item at the same time. */
const MAX_ATTEMPTS = 5;

const SOURCE = { kind: 'langgraph' };

/**
 * Writes items of one namespace, one after another: each is an entry of its own, whose content is the item's text.
 *
 * A namespace holds a content once, and two items may say the same. So entries are only ever made new, never
 * refreshed by another item's text, and an item whose text is taken has its key written below it.
 */
export async function writeItems(
  memory: WritableMemory,
  path: string,
  items: readonly ItemDraft[],
): Promise<void> {
  const created = items.length > 1 ? await createTogether(memory, path, items) : new Set<ItemDraft>();
  for (const item of items) {
    if (!created.has(item)) await writeItem(memory, path, item);
  }
}

export async function deleteItem(memory: WritableMemory, path: string, key: string): Promise<void> {
  const { live, expired } = await findEntries(memory, path, key);
  for (const { id } of [...live, ...expired]) await memory.forget(id);
}

/** Stores the items of new keys in one go where nothing stands in the way. */
async function createTogether(
  memory: WritableMemory,
  path: string,
  items: readonly ItemDraft[],
): Promise<ReadonlySet<ItemDraft>> {
  const keys = items.map(({ key }) => key);
  const [live, expired] = await Promise.all([
    entriesByKey(memory, path, keys, 'live'),
    entriesByKey(memory, path, keys, 'expired'),
  ]);
  const texts = new Set<string>();
  const fresh = items.filter(({ key, text }) => {
    const isNew = live.get(key)?.length === 0 && expired.get(key)?.length === 0 && !texts.has(text);
    texts.add(text);
    return isNew;
  });
  const created = new Set<ItemDraft>();
  for (let start = 0; start < fresh.length; start += MAX_BATCH_SIZE) {
    const batch = fresh.slice(start, start + MAX_BATCH_SIZE);
    const drafts = batch.map((item) => draftOf(path, item, item.text));
    const outcome = await unlessRefused(['precondition_failed'], () =>
      memory.rememberMany(drafts, { ifNew: true }),
    );
    // One text that is taken refuses them all: they are written one by one.
    if (outcome !== null) for (const item of batch) created.add(item);
  }
  await settle(
    memory,
    path,
    [...created].map(({ key }) => key),
  );
  return created;
}

async function writeItem(memory: WritableMemory, path: string, item: ItemDraft): Promise<void> {
  let isTaken = false;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const content = isTaken ? textWithKey(item) : item.text;
    const { live, expired } = await findEntries(memory, path, item.key);
    const [current, ...others] = live;
    for (const { id } of [...others, ...expired]) await memory.forget(id);
    const isWritten =
      current === undefined
        ? await create(memory, path, item, content)
        : await overwrite(memory, current, item, content);
    if (isWritten) return;
    // The text is another item's, or the entry was taken away meanwhile: the next look tells.
    isTaken = true;
  }
  throw new PalimpsestError(
    'conflict',
    `Others keep writing the item ${JSON.stringify(item.key)} of ${path}.`,
    {
      details: [{ path: 'key', got: item.key, hint: 'Write it again.' }],
    },
  );
}

async function create(
  memory: WritableMemory,
  path: string,
  item: ItemDraft,
  content: string,
): Promise<boolean> {
  const written = await unlessRefused(['precondition_failed'], () =>
    memory.remember(draftOf(path, item, content), { ifNew: true }),
  );
  if (written === null) return false;
  await settle(memory, path, [item.key]);
  return true;
}

/** Gives an entry the item's value. */
async function overwrite(
  memory: WritableMemory,
  entry: MemoryEntry,
  item: ItemDraft,
  content: string,
): Promise<boolean> {
  const saysTheSame = entry.content === item.text || entry.content === textWithKey(item);
  const changed = await unlessRefused(['conflict', 'not_found'], () =>
    memory.update(entry.id, {
      ...(saysTheSame ? {} : { content }),
      metadata: { ...entry.metadata, ...metadataOfItem(item) },
      expiresAt: item.expiresAt,
    }),
  );
  if (changed === null) return false;
  if (saysTheSame) await touch(memory, entry, item.expiresAt);
  return true;
}

/** Renews `updatedAt`, which a change of metadata alone leaves as it is. */
async function touch(
  memory: WritableMemory,
  { namespace, content }: MemoryEntry,
  expiresAt: Date | null,
): Promise<void> {
  // The end of its life is said again: a write that does not say it revives what has expired meanwhile.
  const again = await memory.remember({ namespace, content, expiresAt });
  // It was deleted meanwhile, and stays so.
  if (again.operation === 'create') await memory.forget(again.entry.id);
}

/** Where two processes made an entry of one new key at once, the newer one stays. Each looks after its own write. */
async function settle(memory: WritableMemory, path: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const live = await entriesByKey(memory, path, keys, 'live');
  for (const [, ...older] of live.values()) {
    for (const { id } of older) await memory.forget(id);
  }
}

async function findEntries(memory: WritableMemory, path: string, key: string) {
  const [live, expired] = await Promise.all([
    entriesByKey(memory, path, [key], 'live'),
    entriesByKey(memory, path, [key], 'expired'),
  ]);
  return { live: live.get(key) ?? [], expired: expired.get(key) ?? [] };
}

function draftOf(path: string, item: ItemDraft, content: string) {
  return {
    namespace: path,
    content,
    source: SOURCE,
    metadata: metadataOfItem(item),
    expiresAt: item.expiresAt,
  };
}

function textWithKey({ text, key }: ItemDraft): string {
  return `${text}\n\n(key: ${JSON.stringify(key)})`;
}

/** What `work` gives; null where it is refused with one of the codes. */
async function unlessRefused<Value extends object>(
  codes: readonly ErrorCode[],
  work: () => Promise<Value>,
): Promise<Value | null> {
  try {
    return await work();
  } catch (error) {
    if (PalimpsestError.isInstance(error) && codes.includes(error.code)) return null;
    throw error;
  }
}
