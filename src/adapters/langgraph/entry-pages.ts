import type { ListInput } from '../../contract/inputs.ts';
import { MAX_FILTER_VALUES, MAX_NAMESPACE_SEGMENTS, MAX_PAGE_SIZE } from '../../core/defaults.ts';
import type { JsonObject, MemoryEntry } from '../../core/types.ts';
import type { MemoryBackend } from '../memory-backend.ts';
import { hasOneOfKeys } from './item-filter.ts';
import { storedItemOf } from './stored-item.ts';

/** All entries of a list, newest first, read a page at a time. */
export async function* entriesOf(
  memory: Pick<MemoryBackend, 'list'>,
  input: Omit<ListInput, 'limit' | 'cursor'>,
  pageSize = MAX_PAGE_SIZE,
): AsyncGenerator<MemoryEntry> {
  let cursor: string | undefined;
  do {
    const page = await memory.list({ ...input, limit: pageSize, cursor });
    yield* page.entries;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** The entries of a namespace that hold items of these keys, newest first. */
export async function entriesByKey(
  memory: Pick<MemoryBackend, 'list'>,
  path: string,
  keys: readonly string[],
  lifecycle: 'live' | 'expired',
): Promise<Map<string, MemoryEntry[]>> {
  const byKey = new Map<string, MemoryEntry[]>(keys.map((key) => [key, []]));
  for (let start = 0; start < keys.length; start += MAX_FILTER_VALUES) {
    const metadata = hasOneOfKeys(keys.slice(start, start + MAX_FILTER_VALUES));
    for await (const entry of entriesOf(memory, { namespaces: [path], filter: { metadata }, lifecycle })) {
      byKey.get(storedItemOf(entry)?.key ?? '')?.push(entry);
    }
  }
  return byKey;
}

/** A scope of a pattern's namespaces and all below them. */
export function scopeBelow(pattern: string): string[] {
  // A path as deep as paths can be has nothing below.
  return pattern.split('.').length < MAX_NAMESPACE_SEGMENTS ? [pattern, `${pattern}.*`] : [pattern];
}

export function allOf(conditions: readonly JsonObject[]): JsonObject {
  return { and: [...conditions] };
}
