import type { CandidateBatch } from '../ports.ts';
import type { CutCandidate, RankedHit, RankingProfile } from '../types.ts';
import type { Certificate } from './certificate.ts';
import type { RankingParameters } from './parameters.ts';

/** The rules that cover one namespace of the scope. */
export interface TracedRules {
  readonly namespace: string;
  /** Sorted by pattern, the order their bonuses are added in. */
  readonly rules: readonly { readonly pattern: string; readonly bonus: number }[];
}

/** By what the similarity of a scope, or of some of its namespaces, was measured. */
export interface TracedMeasure {
  /** Null where words were compared: similarity is then the share of the query's words that an entry holds. */
  readonly modelId: string | null;
  /** The model that searches there use, where another one or words had to stand in for it; else null. */
  readonly insteadOf: string | null;
  /** Null: all of the scope. */
  readonly namespaces: readonly string[] | null;
  /** Entries that have no vector under the model yet, and so a similarity of 0; not counted beyond 1,000. */
  readonly waiting: number;
}

/** Whether a measure is less than what searches there usually have. */
export function isDegraded({ modelId, insteadOf, waiting }: TracedMeasure): boolean {
  return modelId === null || insteadOf !== null || waiting > 0;
}

/** How a ranked read came to its result: enough to recompute every number in it by hand. */
export interface RecallTrace {
  readonly id: string;
  /** When it was asked, milliseconds since the epoch; ages are measured from here. */
  readonly now: number;
  /** Null while browsing. */
  readonly query: string | null;
  /** The whole profile as it was then: it may be changed later. */
  readonly profile: RankingProfile;
  /** The parameters that were applied. */
  readonly parameters: RankingParameters;
  /** The namespaces the scope resolved to: existing ones the asker may read, by path. */
  readonly namespaces: readonly string[];
  /** One element for each of these namespaces that any rule covers. */
  readonly rules: readonly TracedRules[];
  readonly hits: readonly RankedHit[];
  /** The candidates nearest to the line that cut them, in rank order. */
  readonly cut: readonly CutCandidate[];
  /** How many were cut in all; more than `cut` holds when it was shortened. */
  readonly cutCount: number;
  readonly index: CandidateBatch['index'];
  /** Whether the hits are proven to be the exact top k of the whole scope. */
  readonly exact: boolean;
  readonly certificate: Certificate;
  /** The model that measured similarity, the first of `measures`. Null while browsing, and where words were compared. */
  readonly embeddingModelId: string | null;
  /** By what similarity was measured; none while browsing. More than one where namespaces have models of their own. */
  readonly measures: readonly TracedMeasure[];
  /** Whether anything but the usual model, with all its vectors, measured similarity. */
  readonly degraded: boolean;
  /** Milliseconds by step, such as `embed`, `candidates`, `rank`, `total`. */
  readonly timings: Readonly<Record<string, number>>;
}
