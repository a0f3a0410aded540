import type { NamespaceState, ReadView, ScopePatterns } from '../core/ports.ts';
import { type RankingParameters, resolveRankingParameters } from '../core/ranking/parameters.ts';
import { matchRules } from '../core/ranking/rules.ts';
import type { RecallTrace, TracedRules } from '../core/ranking/trace.ts';
import type { MemoryEntry, MemoryFilter, MemoryHit, NamespaceRule, RankedHit } from '../core/types.ts';
import { fetchRanked, type RankedFetch } from './fetch-ranked.ts';
import { toMemoryHits } from './memory-hit.ts';
import { profileNamed } from './ranking-profile.ts';
import type { RequestContext } from './request-context.ts';
import type { ServiceState } from './service-parts.ts';
import { type Stopwatch, startStopwatch } from './stopwatch.ts';

/** Cut candidates a trace keeps: enough to see the line and what lies just below it. */
const TRACED_CUTS = 50;

export interface RecallRequest {
  /** What to look for. Without it this is browsing: newest first (`boosted`) or similarity 1 (`weighted`). */
  readonly query?: string | undefined;
  /** Paths and patterns. Default: everything the asker may read. */
  readonly namespaces?: ScopePatterns | undefined;
  readonly filter?: MemoryFilter | undefined;
  /** Name of a ranking profile. Default: the server's. */
  readonly profile?: string | undefined;
  /** 1..200. Default: the profile's. */
  readonly topK?: number | undefined;
  /** At least 0. Default: the profile's. */
  readonly minScore?: number | undefined;
  /** In [0, 1]. Default: the profile's. */
  readonly relativeCutoff?: number | undefined;
}

export interface RecallResult {
  /** Best first. */
  readonly hits: readonly MemoryHit[];
  /** How the result came about: every number, and what was cut and why. */
  readonly trace: RecallTrace;
}

/**
 * Finds what is worth remembering for a query: scope → exclusions → similarity → score → `minScore` →
 * `relativeCutoff` → deduplicate → `topK`, the exact best of the whole scope, on one state of the store.
 *
 * Reading changes nothing: no counter moves.
 */
export async function recall(
  state: ServiceState,
  { access }: RequestContext,
  request: RecallRequest,
): Promise<RecallResult> {
  const stopwatch = startStopwatch();
  const profile = profileNamed(state.profiles, request.profile ?? state.defaultProfile);
  const parameters = resolveRankingParameters(profile, request);
  const vector = await queryVector(state, request.query, stopwatch);
  const now = state.clock();
  return state.store.read(access, async (view) => {
    const [namespaces, rules] = await stopwatch.time('scope', () => readScope(view, request));
    const paths = namespaces.map(({ path }) => path);
    const ranked = await stopwatch.time('candidates', () =>
      fetchRanked(view, {
        source: { namespaces: paths, filter: request.filter ?? {}, query: vector, now },
        ranking: {
          ...parameters,
          profile,
          rules,
          hasQuery: vector !== undefined,
          now,
          cutLimit: TRACED_CUTS,
        },
      }),
    );
    const entries = await stopwatch.time('entries', () => readEntries(view, ranked.outcome.hits));
    return {
      hits: toMemoryHits(ranked.outcome.hits, entries, profile),
      trace: {
        id: state.newId(),
        now,
        query: request.query ?? null,
        profile,
        namespaces: paths,
        rules: tracedRules(rules, paths),
        embeddingModelId: vector?.modelId ?? null,
        ...tracedRanking(ranked),
        timings: stopwatch.timings(),
      },
    };
  });
}

interface QueryVector {
  readonly modelId: string;
  readonly vector: Float32Array | null;
}

async function queryVector(
  { embedding }: ServiceState,
  query: string | undefined,
  stopwatch: Stopwatch,
): Promise<QueryVector | undefined> {
  if (query === undefined) return undefined;
  return (await stopwatch.time('embed', () => embedding.embedQuery(query))) ?? undefined;
}

async function readScope(
  view: ReadView,
  request: RecallRequest,
): Promise<[NamespaceState[], NamespaceRule[]]> {
  const namespaces = await view.namespaces(request.namespaces ?? null);
  return [namespaces, await view.rules()];
}

async function readEntries(
  view: ReadView,
  hits: readonly RankedHit[],
): Promise<ReadonlyMap<string, MemoryEntry>> {
  const ids = hits.flatMap((hit) => [hit, ...hit.duplicates].map(({ candidate }) => candidate.id));
  const entries = ids.length === 0 ? [] : await view.entries(ids);
  return new Map(entries.map((entry) => [entry.id, entry]));
}

function tracedRules(rules: readonly NamespaceRule[], paths: readonly string[]): TracedRules[] {
  return [...matchRules(rules, paths)]
    .filter(([, matching]) => matching.length > 0)
    .map(([namespace, matching]) => ({
      namespace,
      rules: matching.map(({ pattern, bonus }) => ({ pattern, bonus })),
    }));
}

function tracedRanking({ outcome, certificate, index }: RankedFetch) {
  const parameters: RankingParameters = outcome.effective;
  return {
    parameters,
    hits: outcome.hits,
    cut: outcome.cut,
    cutCount: outcome.cutCount,
    index,
    exact: certificate.exact,
    certificate,
  };
}
