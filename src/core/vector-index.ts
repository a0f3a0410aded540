import { invalidInput } from './errors.ts';

/**
 * Approximate indexes (HNSW) over the vectors of one model: for scopes so large that measuring every vector takes too
 * long. Options have pgvector's own names. A search that used one says `exact: false`.
 */

/** How an index is searched. */
export interface HnswSearchOptions {
  /** Scopes of up to so many vectors are measured whole, whatever indexes there are. At least 0. */
  readonly exactUpTo: number;
  /** Candidates the search keeps in mind, 1..1000: higher finds more and takes longer. */
  readonly efSearch: number;
  /** How it goes on where too many of the nearest belong to others. `off`: not at all. */
  readonly iterativeScan: IterativeScan;
  /** Vectors it looks at before it gives up, at least 1. */
  readonly maxScanTuples: number;
}

export type IterativeScan = (typeof ITERATIVE_SCANS)[number];
export const ITERATIVE_SCANS = ['off', 'strict_order', 'relaxed_order'] as const;

/** How an index is built. */
export interface HnswBuildOptions {
  /** Connections of a vector, 2..100. */
  readonly m: number;
  /** Candidates while a vector's place is looked for, 4..1000 and at least twice `m`. */
  readonly efConstruction: number;
}

export const DEFAULT_HNSW_SEARCH: HnswSearchOptions = {
  // An exact scan of 100,000 vectors of 384 dimensions takes 50 ms (DESIGN), which is no reason to guess.
  exactUpTo: 100_000,
  // pgvector's 40 is less than the 65 candidates of a recall's first fetch.
  efSearch: 100,
  iterativeScan: 'strict_order',
  maxScanTuples: 20_000,
};

/** pgvector's own. */
export const DEFAULT_HNSW_BUILD: HnswBuildOptions = { m: 16, efConstruction: 64 };

export const HNSW_RANGES = {
  m: [2, 100],
  efConstruction: [4, 1_000],
  efSearch: [1, 1_000],
} as const satisfies Record<string, readonly [least: number, most: number]>;

/** pgvector indexes no more dimensions than these: of 32-bit numbers, and of 16-bit ones. */
const MAX_VECTOR_DIMENSIONS = 2_000;
const MAX_HALFVEC_DIMENSIONS = 4_000;

/** In which numbers an index keeps vectors. What it finds is measured by the stored 32-bit ones all the same. */
export type IndexedAs = 'vector' | 'halfvec';

/** @throws PalimpsestError `invalid_input` for more dimensions than can be indexed */
export function indexedAs(dimensions: number): IndexedAs {
  if (dimensions <= MAX_VECTOR_DIMENSIONS) return 'vector';
  if (dimensions <= MAX_HALFVEC_DIMENSIONS) return 'halfvec';
  throw invalidInput(`Vectors of ${dimensions} dimensions can not be indexed.`, {
    path: 'model',
    got: dimensions,
    allowed: `at most ${MAX_HALFVEC_DIMENSIONS} dimensions`,
    hint: 'Searches measure every vector without an index.',
  });
}

/** @throws PalimpsestError `invalid_input` */
export function checkHnswBuild({ m, efConstruction }: HnswBuildOptions): HnswBuildOptions {
  checkRange('m', m, HNSW_RANGES.m);
  checkRange('ef_construction', efConstruction, HNSW_RANGES.efConstruction);
  if (efConstruction >= 2 * m) return { m, efConstruction };
  throw invalidInput(`ef_construction: ${efConstruction} is less than twice m, which is ${m}.`, {
    path: 'ef_construction',
    got: efConstruction,
    allowed: `at least ${2 * m}`,
  });
}

function checkRange(path: string, value: number, [least, most]: readonly [number, number]): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw invalidInput(`${path}: ${value} is not a whole number from ${least} to ${most}.`, {
    path,
    got: value,
    allowed: `a whole number from ${least} to ${most}`,
  });
}

/** `building`: it is under way. `invalid`: its building ended before its end, and nothing uses it. */
export type VectorIndexState = 'valid' | 'building' | 'invalid';

export interface VectorIndex extends HnswBuildOptions {
  readonly name: string;
  readonly modelId: string;
  readonly dimensions: number;
  readonly indexedAs: IndexedAs;
  readonly state: VectorIndexState;
  readonly bytes: number;
  /** While it is built. */
  readonly progress: IndexProgress | null;
}

export interface IndexProgress {
  /** In PostgreSQL's words. */
  readonly phase: string;
  /** Of the phase, in 0..1; null where nobody knows. */
  readonly share: number | null;
}

export interface NewVectorIndex extends HnswBuildOptions {
  readonly modelId: string;
  readonly dimensions: number;
}

export interface BuildVectorIndexOptions {
  /** Gives the build up; nothing of it is left. */
  readonly signal?: AbortSignal | undefined;
  /** Told about twice a second how far it is. */
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined;
}

/** The approximate indexes of a whole store. Each serves every tenant that uses its model. */
export interface VectorIndexStore {
  list(): Promise<VectorIndex[]>;
  /**
   * Builds an index while reads and writes go on. What an earlier build left behind is removed first.
   *
   * @throws PalimpsestError `conflict` where the model has an index, or one is being built; or this store has none
   */
  create(index: NewVectorIndex, options?: BuildVectorIndexOptions): Promise<VectorIndex>;
  /** False where the model has no index. */
  drop(modelId: string): Promise<boolean>;
}
