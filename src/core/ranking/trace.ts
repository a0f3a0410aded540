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
  /** Null while browsing, and where embeddings are disabled. */
  readonly embeddingModelId: string | null;
  /** Milliseconds by step, such as `embed`, `candidates`, `rank`, `total`. */
  readonly timings: Readonly<Record<string, number>>;
}
