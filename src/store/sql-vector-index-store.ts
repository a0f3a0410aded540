import { setTimeout as sleep } from 'node:timers/promises';
import { conflict, type PalimpsestError } from '../core/errors.ts';
import type {
  BuildVectorIndexOptions,
  IndexProgress,
  NewVectorIndex,
  VectorIndex,
  VectorIndexStore,
} from '../core/vector-index.ts';
import {
  createVectorIndex,
  dropVectorIndex,
  selectVectorIndexes,
  toVectorIndex,
  type VectorIndexRow,
  vectorIndexName,
} from './queries/vector-index.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Runs one statement outside of any transaction, however long it takes. */
export type RunAlone = (statement: string, signal?: AbortSignal) => Promise<void>;

const DROP_ATTEMPTS = 20;
const DROP_RETRY_MS = 500;
const PROGRESS_MS = 500;

/** The indexes of a PostgreSQL, under the role that owns its tables: an index is of nobody's tenant. */
export class SqlVectorIndexStore implements VectorIndexStore {
  private readonly database: SqlDatabase;
  private readonly runAlone: RunAlone;

  constructor(database: SqlDatabase, runAlone: RunAlone) {
    this.database = database;
    this.runAlone = runAlone;
  }

  async list(): Promise<VectorIndex[]> {
    const rows = await this.database.transaction((tx) => tx.query<VectorIndexRow>(selectVectorIndexes()), {
      readOnlySnapshot: true,
    });
    return rows.flatMap((row) => toVectorIndex(row) ?? []);
  }

  async create(index: NewVectorIndex, options: BuildVectorIndexOptions = {}): Promise<VectorIndex> {
    const name = vectorIndexName(index.modelId);
    const before = await this.find(name);
    if (before?.state === 'valid') throw alreadyThere(before);
    if (before?.state === 'building') throw underWay(before);
    if (before !== undefined) await this.runAlone(dropVectorIndex(name));
    await this.build(name, index, options);
    const built = await this.find(name);
    if (built === undefined) throw new Error(`The index ${name} was built and is not there.`);
    return built;
  }

  async drop(modelId: string): Promise<boolean> {
    const name = vectorIndexName(modelId);
    if ((await this.find(name)) === undefined) return false;
    await this.runAlone(dropVectorIndex(name));
    return true;
  }

  private async find(name: string): Promise<VectorIndex | undefined> {
    return (await this.list()).find((index) => index.name === name);
  }

  private async build(
    name: string,
    index: NewVectorIndex,
    { signal, onProgress }: BuildVectorIndexOptions,
  ): Promise<void> {
    const ended = new AbortController();
    const watching = onProgress === undefined ? undefined : this.watch(name, onProgress, ended.signal);
    try {
      await this.runAlone(createVectorIndex(index), signal);
    } catch (error) {
      await this.dropLeftOver(name);
      throw error;
    } finally {
      ended.abort();
      await watching;
    }
  }

  /**
   * A build that ends early leaves an index that costs every write and serves no search. The server notices only
   * after a moment that the build was given up, and until then one of the two is ended as a deadlock. What can't be
   * dropped at all stays invalid, which `list` and `doctor` tell; the failure of the build is what the caller hears of.
   */
  private async dropLeftOver(name: string): Promise<void> {
    for (let attempt = 1; attempt <= DROP_ATTEMPTS; attempt += 1) {
      try {
        return await this.runAlone(dropVectorIndex(name));
      } catch {
        await sleep(DROP_RETRY_MS);
      }
    }
  }

  private async watch(
    name: string,
    onProgress: (progress: IndexProgress) => void,
    ended: AbortSignal,
  ): Promise<void> {
    while (!ended.aborted) {
      // A look that fails, as while connections are lost, says nothing about the build.
      const index = await this.find(name).catch(() => undefined);
      const progress = index?.progress ?? null;
      if (progress !== null) onProgress(progress);
      await sleep(PROGRESS_MS, undefined, { signal: ended }).catch(() => undefined);
    }
  }
}

/** The embedded store, which measures every vector. */
export const NO_VECTOR_INDEXES: VectorIndexStore = {
  list: async () => [],
  create: async () => {
    throw exactAlready();
  },
  drop: async () => {
    throw exactAlready();
  },
};

function exactAlready(): PalimpsestError {
  return conflict('The embedded store measures every vector, exactly, and has no index of vectors.', {
    hint: 'Indexes are for PostgreSQL, and for more vectors than an embedded store is made for.',
  });
}

function alreadyThere({ modelId, m, efConstruction }: VectorIndex): PalimpsestError {
  return conflict(
    `The model ${modelId} has an index already, with m ${m} and ef_construction ${efConstruction}.`,
    { path: 'model', got: modelId, hint: 'Drop it first to build another one.' },
  );
}

function underWay({ modelId }: VectorIndex): PalimpsestError {
  return conflict(`An index for the model ${modelId} is being built.`, {
    path: 'model',
    got: modelId,
    hint: 'Wait for its end; `palimpsest index list` shows how far it is.',
  });
}
