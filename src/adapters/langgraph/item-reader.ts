import type { GetOperation, Item, SearchItem, SearchOperation } from '@langchain/langgraph-checkpoint';
import { MAX_PAGE_SIZE, MAX_TOP_K } from '../../core/defaults.ts';
import { excerpt, invalidInput } from '../../core/errors.ts';
import type { JsonObject } from '../../core/types.ts';
import type { BackendHit, MemoryBackend } from '../memory-backend.ts';
import { allOf, entriesByKey, entriesOf, scopeBelow } from './entry-pages.ts';
import { conditionsOfFilter, IS_ITEM, isIndexed } from './item-filter.ts';
import { pathOfLabels } from './label-path.ts';
import { type ItemSource, itemOf } from './stored-item.ts';

/** LangGraph's default. */
const DEFAULT_LIMIT = 10;

export interface ReaderOptions {
  readonly memory: Pick<MemoryBackend, 'list' | 'recall'>;
  readonly root: string;
  /** Name of the ranking profile. */
  readonly profile: string | undefined;
}

/** The newest item of a key: of two that two processes wrote at once, one is about to be taken away. */
export async function readItem(
  { memory, root }: ReaderOptions,
  { namespace, key }: GetOperation,
): Promise<Item | null> {
  const found = await entriesByKey(memory, pathOfLabels(root, namespace), [key], 'live');
  const [entry] = found.get(key) ?? [];
  return entry === undefined ? null : itemOf(root, entry);
}

/**
 * Items below a prefix: ranked where there is a query, the ones that are not indexed behind them; newest first where
 * there is none.
 *
 * @throws PalimpsestError `invalid_input`, also for a page of a ranking beyond place 200
 */
export async function searchItems(options: ReaderOptions, operation: SearchOperation): Promise<SearchItem[]> {
  const { memory, root } = options;
  const offset = count(operation.offset ?? 0, 'offset');
  const limit = count(operation.limit ?? DEFAULT_LIMIT, 'limit');
  const end = offset + limit;
  if (limit === 0) return [];
  const { namespacePrefix, query } = operation;
  const namespaces =
    namespacePrefix.length === 0 ? [`${root}.*`] : scopeBelow(pathOfLabels(root, namespacePrefix));
  const conditions = [IS_ITEM, ...conditionsOfFilter(operation.filter ?? {})];
  const page = distinctItems(root);
  const list = async (metadata: JsonObject) => {
    const pageSize = Math.min(end, MAX_PAGE_SIZE);
    for await (const entry of entriesOf(memory, { namespaces, filter: { metadata } }, pageSize)) {
      page.add(entry);
      if (page.items.length >= end) return;
    }
  };
  // LangGraph reads an empty query as none.
  if (query === undefined || query === '') {
    await list(allOf(conditions));
  } else {
    const metadata = allOf([...conditions, isIndexed(true)]);
    for (const { source, score } of await ranked(options, { query, namespaces, metadata, end })) {
      page.add(source, score);
    }
    if (page.items.length < end) await list(allOf([...conditions, isIndexed(false)]));
  }
  return page.items.slice(offset, end);
}

interface RankedSource {
  readonly source: ItemSource;
  readonly score: number | undefined;
}

/** The best items, with those that a recall folds into one because their texts are equal. */
async function ranked(
  { memory, profile }: ReaderOptions,
  search: { query: string; namespaces: string[]; metadata: JsonObject; end: number },
): Promise<RankedSource[]> {
  const { query, namespaces, metadata, end } = search;
  if (end > MAX_TOP_K) {
    throw invalidInput(
      `A search with a query ranks ${MAX_TOP_K} items; offset and limit ask for ${end}. Narrow it by a filter, or leave the query out to read on.`,
      { path: 'limit', got: end, allowed: `offset + limit of at most ${MAX_TOP_K}` },
    );
  }
  // A store answers the best there are, however far they are: what to leave out is the caller's to decide.
  const { hits } = await memory.recall({
    query,
    namespaces,
    filter: { metadata },
    topK: end,
    minScore: 0,
    relativeCutoff: 0,
    ...(profile === undefined ? {} : { profile }),
  });
  return hits.flatMap(unfolded).sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
}

function unfolded({ entry, score, duplicates }: BackendHit): RankedSource[] {
  return [
    { source: entry, score: score ?? undefined },
    ...duplicates.map((duplicate) => ({ source: duplicate, score: duplicate.score ?? undefined })),
  ];
}

/** Collects items, each key of a namespace once. */
function distinctItems(root: string) {
  const seen = new Set<string>();
  const items: SearchItem[] = [];
  return {
    items,
    add(source: ItemSource, score?: number) {
      const item = itemOf(root, source);
      if (item === null) return;
      const identity = JSON.stringify([source.namespace, item.key]);
      if (seen.has(identity)) return;
      seen.add(identity);
      items.push(score === undefined ? item : { ...item, score });
    },
  };
}

/** @throws PalimpsestError `invalid_input` */
export function count(value: number, field: string): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw invalidInput(`${field}: got ${excerpt(value)}; allowed: a whole number of at least 0.`, {
    path: field,
    got: excerpt(value),
    allowed: 'a whole number of at least 0',
  });
}
