import type { Item } from '@langchain/langgraph-checkpoint';
import type { JsonObject, JsonValue, MemoryEntry } from '../../core/types.ts';
import { labelsOfPath } from './label-path.ts';

/** Key of an entry's metadata under which the store keeps an item. */
export const ITEM_FIELD = 'langgraph';

/** An item as its entry's metadata has it. */
export interface StoredItem {
  readonly key: string;
  readonly value: JsonObject;
  /** Whether the entry's content stands for the value in searches. */
  readonly indexed: boolean;
}

/** What an item is read from: an entry, or an equal content that a search folded into one. */
export type ItemSource = Pick<MemoryEntry, 'id' | 'namespace' | 'metadata' | 'createdAt' | 'updatedAt'>;

export function metadataOfItem({ key, value, indexed }: StoredItem): JsonObject {
  return { [ITEM_FIELD]: { key, value, indexed } };
}

/** The item an entry holds; null for an entry that no store has written. */
export function itemOf(root: string, source: ItemSource): Item | null {
  const stored = storedItemOf(source);
  const namespace = labelsOfPath(root, source.namespace);
  if (stored === null || namespace === null) return null;
  const { createdAt, updatedAt } = source;
  return { namespace, key: stored.key, value: stored.value, createdAt, updatedAt };
}

export function storedItemOf({ metadata }: Pick<MemoryEntry, 'metadata'>): StoredItem | null {
  const stored = Object.hasOwn(metadata, ITEM_FIELD) ? metadata[ITEM_FIELD] : undefined;
  if (!isObject(stored)) return null;
  const { key, value, indexed } = stored;
  if (typeof key !== 'string' || !isObject(value) || typeof indexed !== 'boolean') return null;
  return { key, value, indexed };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
