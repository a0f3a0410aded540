import {
  BaseStore,
  type GetOperation,
  InvalidNamespaceError,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchOperation,
  validateNamespace,
} from '@langchain/langgraph-checkpoint';
import { excerpt, invalidInput } from '../../core/errors.ts';
import { parseNamespacePath } from '../../core/namespace.ts';
import type { Clock } from '../../core/ports.ts';
import { checkOptions } from '../check-options.ts';
import type { MemoryBackend } from '../memory-backend.ts';
import { InOrder } from './in-order.ts';
import { type ReaderOptions, readItem, searchItems } from './item-reader.ts';
import { itemText } from './item-text.ts';
import { jsonItemValue } from './item-value.ts';
import { deleteItem, type ItemDraft, writeItems } from './item-writer.ts';
import { pathOfLabels } from './label-path.ts';
import { listItemNamespaces } from './namespace-list.ts';

/** What a store needs of a memory. */
export type StoreMemory = Pick<
  MemoryBackend,
  'list' | 'recall' | 'namespaces' | 'remember' | 'rememberMany' | 'update' | 'forget'
>;

export interface PalimpsestStoreOptions {
  /**
   * Namespace below which all of the store's items lie, such as `vector.user.ada.langgraph`: it decides whose they
   * are. Each label is one more segment, so that a root of 4 segments leaves room for 12 labels.
   */
  readonly root: string;
  readonly index?: {
    /**
     * Paths of the fields whose text items are found by, unless a `put` names its own. Default `['$']`: the whole
     * value as JSON. Name the fields that hold prose, and searches get better.
     */
    readonly fields?: readonly string[] | undefined;
  };
  readonly ttl?: {
    /** Minutes after which an item is gone, unless a `put` names its own. Default: never. */
    readonly defaultTtl?: number | undefined;
  };
  /** Name of the ranking profile that searches with a query use. Default `boosted`. */
  readonly profile?: string | undefined;
  /** Tells the time in milliseconds since the epoch, for expiry. Default: the system's clock. */
  readonly clock?: Clock | undefined;
}

const OPTIONS: Readonly<Record<keyof PalimpsestStoreOptions, null>> = {
  root: null,
  index: null,
  ttl: null,
  profile: null,
  clock: null,
};

const MINUTE_MS = 60_000;

/** A put with minutes after which the item is gone; null: never. */
export type PutOperationWithTtl = PutOperation & { readonly ttl?: number | null | undefined };

/**
 * LangGraph's long-term memory, kept by Palimpsest. An item is an entry: its text is the entry's content, its key and
 * value stand in the entry's metadata under `langgraph`.
 *
 * @example
 * const store = new PalimpsestStore(memory, { root: 'vector.user.ada.langgraph', index: { fields: ['text'] } });
 * await store.put(['facts'], 'drink', { text: 'Ada prefers tea over coffee.' });
 * const [item] = await store.search(['facts'], { query: 'tea or coffee?' });
 */
export class PalimpsestStore extends BaseStore {
  readonly #memory: StoreMemory;
  readonly #root: string;
  readonly #fields: readonly string[];
  readonly #defaultTtl: number | null;
  readonly #reader: ReaderOptions;
  readonly #clock: Clock;
  readonly #writes = new InOrder();

  /**
   * @param memory - An opened memory, a handle for one user, or the HTTP client. Whoever opened it closes it.
   * @throws PalimpsestError `invalid_input`
   */
  constructor(memory: StoreMemory, options: PalimpsestStoreOptions) {
    super();
    checkOptions(options ?? {}, OPTIONS);
    this.#memory = memory;
    this.#root = parseNamespacePath(options.root, 'root');
    this.#fields = [...(options.index?.fields ?? ['$'])];
    this.#defaultTtl = checkTtl(options.ttl?.defaultTtl ?? null, 'ttl.defaultTtl');
    this.#reader = { memory, root: this.#root, profile: options.profile };
    this.#clock = options.clock ?? Date.now;
  }

  /**
   * Carries out several operations. As in LangGraph's own stores, reads see what was there before the batch, and of
   * several puts of one key the last counts. Each item is written whole; a batch that fails half-way leaves the items
   * it has written.
   *
   * Beyond what `put` allows, labels may hold any character here: they are escaped in the path.
   *
   * @throws InvalidNamespaceError for an empty namespace, PalimpsestError for everything else
   */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = operations.filter(isPut);
    const drafts = lastOfEachKey(puts.map((put) => this.#planned(put)));
    const results = await Promise.all(
      operations.map((operation) => (isPut(operation) ? undefined : this.#read(operation))),
    );
    const byPath = Map.groupBy(drafts, ({ path }) => path);
    for (const [path, writes] of byPath) {
      await this.#writes.run(path, () => this.#write(path, writes));
    }
    return results as OperationResults<Op>;
  }

  /**
   * Stores an item, or replaces the one of this key.
   *
   * @param index - Paths of the fields it is found by; false: searches with a query list it behind what they rank.
   * @param options - `ttl`: minutes after which it is gone; null: never. Default: the store's.
   */
  override async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    index?: false | string[],
    options: { readonly ttl?: number | null | undefined } = {},
  ): Promise<void> {
    validateNamespace(namespace);
    const operation: PutOperationWithTtl = {
      namespace,
      key,
      value,
      ...(index === undefined ? {} : { index }),
      ttl: options.ttl,
    };
    await this.batch([operation]);
  }

  #read(operation: GetOperation | SearchOperation | ListNamespacesOperation): Promise<unknown> {
    if ('namespacePrefix' in operation) return searchItems(this.#reader, operation);
    if (!('key' in operation)) return listItemNamespaces(this.#memory, this.#root, operation);
    requireLabels(operation.namespace);
    return readItem(this.#reader, operation);
  }

  #planned(operation: PutOperationWithTtl): PlannedWrite {
    const { namespace, key, value } = operation;
    requireLabels(namespace);
    const path = pathOfLabels(this.#root, namespace);
    return { path, key: checkKey(key), item: value === null ? null : this.#draft(operation, value) };
  }

  #draft({ key, index, ttl }: PutOperationWithTtl, given: Record<string, unknown>): ItemDraft {
    const value = jsonItemValue(given);
    const text = index === false ? null : itemText(value, index ?? this.#fields);
    const minutes = ttl === undefined ? this.#defaultTtl : checkTtl(ttl, 'ttl');
    return {
      key,
      value,
      indexed: text !== null,
      text: text ?? JSON.stringify(value),
      expiresAt: minutes === null ? null : new Date(this.#clock() + minutes * MINUTE_MS),
    };
  }

  async #write(path: string, writes: readonly PlannedWrite[]): Promise<void> {
    for (const { key, item } of writes) {
      if (item === null) await deleteItem(this.#memory, path, key);
    }
    await writeItems(
      this.#memory,
      path,
      writes.flatMap(({ item }) => (item === null ? [] : [item])),
    );
  }
}

interface PlannedWrite {
  readonly path: string;
  readonly key: string;
  /** Null: the item is deleted. */
  readonly item: ItemDraft | null;
}

function isPut(operation: Operation): operation is PutOperation {
  return 'value' in operation;
}

function lastOfEachKey(writes: readonly PlannedWrite[]): PlannedWrite[] {
  const last = new Map(writes.map((write) => [JSON.stringify([write.path, write.key]), write]));
  return [...last.values()];
}

function requireLabels(namespace: readonly string[]): void {
  if (!Array.isArray(namespace) || namespace.length === 0) {
    throw new InvalidNamespaceError('Namespace cannot be empty.');
  }
}

function checkKey(key: string): string {
  if (typeof key === 'string') return key;
  throw invalidInput(`key: got ${excerpt(key)}; allowed: a text.`, {
    path: 'key',
    got: excerpt(key),
    allowed: 'a text',
  });
}

function checkTtl(minutes: number | null, field: string): number | null {
  if (minutes === null || (Number.isFinite(minutes) && minutes > 0)) return minutes;
  throw invalidInput(`${field}: got ${excerpt(minutes)}; allowed: minutes above 0, or null for no expiry.`, {
    path: field,
    got: excerpt(minutes),
    allowed: 'a number above 0, or null',
  });
}
