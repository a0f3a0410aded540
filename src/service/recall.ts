import { DEFAULT_PROFILE } from '../core/defaults.ts';
import type { NamespaceState, ReadView, ScopePatterns } from '../core/ports.ts';
import { type RankingParameters, resolveRankingParameters } from '../core/ranking/parameters.ts';
import { matchRules } from '../core/ranking/rules.ts';
import { isDegraded, type RecallTrace, type TracedRules } from '../core/ranking/trace.ts';
import type {
  JsonObject,
  MemoryEntry,
  MemoryFilter,
  MemoryHit,
  NamespaceRule,
  RankedHit,
} from '../core/types.ts';
import { type Measure, readMeasured } from './embeddings/read-measured.ts';
import { fetchRanked, type RankedFetch } from './fetch-ranked.ts';
import { toMemoryHits } from './memory-hit.ts';
import { noteOutOfReach, noteRead } from './note-read.ts';
import { profileNamed } from './ranking-profile.ts';
import type { RequestContext } from './request-context.ts';
import { type AppliedPolicy, requestPolicy } from './request-policy.ts';
import type { ServiceState } from './service-parts.ts';
import { startStopwatch } from './stopwatch.ts';
import { cutoffWarnings, type Warning } from './warning.ts';

/**
 * Cut candidates a trace keeps: enough to see the line and what lies just below it. With 50 of them a trace had 32 KB,
 * and writing one took PGlite 2.1 ms of processor time instead of 0.8.
 */
const TRACED_CUTS = 20;

export interface RecallRequest {
  /** What to look for. Without it this is browsing: newest first (`boosted`) or similarity 1 (`weighted`). */
  readonly query?: string | undefined;
  /** Paths and patterns. Default: what the policy reads, else everything the asker may read. */
  readonly namespaces?: ScopePatterns | undefined;
  readonly filter?: MemoryFilter | undefined;
  /** Name of a ranking profile. Default: the policy's. */
  readonly profile?: string | undefined;
  /** The profile where neither the request nor a policy names one. Default: the server's. */
  readonly defaultProfile?: string | undefined;
  /** 1..200. Default: the policy's, else the profile's. */
  readonly topK?: number | undefined;
  /** At least 0. Default: the policy's, else the profile's. */
  readonly minScore?: number | undefined;
  /** In [0, 1]. Default: the policy's, else the profile's. */
  readonly relativeCutoff?: number | undefined;
}

export interface RecallResult {
  /** Best first. */
  readonly hits: readonly MemoryHit[];
  /** How the result came about: every number, and what was cut and why. */
  readonly trace: RecallTrace;
  /** What was applied and is probably not meant. */
  readonly warnings: readonly Warning[];
  /** Tokens that the policy lets a memory block of these hits take; null where it says nothing. */
  readonly tokenBudget: number | null;
}

/** A ranked read that is not yet written down. */
export interface RankedRead {
  readonly result: RecallResult;
  /** All rules, in the state of the store that the result is of. */
  readonly rules: readonly NamespaceRule[];
  readonly applied: AppliedPolicy;
}

/**
 * Finds what is worth remembering for a query: scope → exclusions → similarity → score → `minScore` →
 * `relativeCutoff` → deduplicate → `topK`, the exact best of the whole scope, on one state of the store.
 *
 * Reading changes nothing: no counter moves.
 */
export async function recall(
  state: ServiceState,
  context: RequestContext,
  request: RecallRequest,
): Promise<RecallResult> {
  const { result, applied } = await readRanked(state, context, request);
  await noteRanked(state, context, { operation: 'recall', applied, scope: request.namespaces, result });
  return result;
}

/** Writes a ranked read down: its trace, its audit record, and what it named in vain. */
export async function noteRanked(
  state: ServiceState,
  context: RequestContext,
  read: {
    readonly operation: string;
    readonly applied: AppliedPolicy;
    readonly scope: ScopePatterns | undefined;
    readonly result: Pick<RecallResult, 'hits' | 'trace'>;
    readonly detail?: JsonObject;
  },
): Promise<void> {
  const { operation, applied, scope, detail } = read;
  const { trace, hits } = read.result;
  noteOutOfReach(state, context, { operation, access: applied.access, scope });
  await noteRead(state, context, {
    operation,
    namespaces: trace.namespaces,
    trace,
    detail: { hit_count: hits.length, top_k: trace.parameters.topK, trace_id: trace.id, ...detail },
  });
}

/** The ranked read itself, for use cases that make something of it before it is written down. */
export async function readRanked(
  state: ServiceState,
  context: RequestContext,
  request: RecallRequest,
): Promise<RankedRead> {
  const { asking, applied } = requestPolicy(context, 'read');
  const stopwatch = startStopwatch(state.telemetry);
  // Refused before the query is embedded, which may cost money.
  resolveRankingParameters(DEFAULT_PROFILE, request);
  const now = state.clock();
  const { tenantId } = asking.principal;
  const work = async (view: ReadView, measure: Measure): Promise<RankedRead> => {
    const { policy, defaultScope } = applied();
    const profile = await profileNamed(
      state.profiles,
      view,
      request.profile ?? policy?.profile ?? request.defaultProfile ?? state.defaultProfile,
    );
    const parameters = resolveRankingParameters(profile, {
      topK: request.topK ?? policy?.topK ?? undefined,
      minScore: request.minScore ?? policy?.minScore ?? undefined,
      relativeCutoff: request.relativeCutoff ?? policy?.relativeCutoff ?? undefined,
    });
    const scope = request.namespaces ?? defaultScope;
    const [namespaces, rules] = await stopwatch.time('scope', () => readScope(view, scope));
    const paths = namespaces.map(({ path }) => path);
    const { sources, measures } = await measure(paths);
    const ranked = await stopwatch.time('candidates', () =>
      fetchRanked(view, {
        sources,
        filter: request.filter ?? {},
        now,
        ranking: {
          ...parameters,
          profile,
          rules,
          hasQuery: request.query !== undefined,
          now,
          cutLimit: TRACED_CUTS,
        },
      }),
    );
    const entries = await stopwatch.time('entries', () => readEntries(view, ranked.outcome.hits));
    const result: RecallResult = {
      hits: toMemoryHits(ranked.outcome.hits, entries, profile),
      trace: {
        id: state.newId(),
        now,
        query: request.query ?? null,
        profile,
        namespaces: paths,
        rules: tracedRules(rules, paths),
        embeddingModelId: measures[0]?.modelId ?? null,
        measures,
        degraded: measures.some(isDegraded),
        ...tracedRanking(ranked),
        timings: stopwatch.timings(),
      },
      warnings: warnOfCutoff(state, parameters.relativeCutoff),
      tokenBudget: policy?.tokenBudget ?? null,
    };
    return { result, rules, applied: applied() };
  };
  const read = await readMeasured(state, tenantId, asking, request.query, {
    embed: (ask) => stopwatch.time('embed', ask),
    work,
  });
  const { embeddingModelId: modelId, degraded, exact } = read.result.trace;
  state.telemetry.recalled({ modelId, degraded, exact });
  return read;
}

function warnOfCutoff(state: ServiceState, relativeCutoff: number): readonly Warning[] {
  const warnings = cutoffWarnings(relativeCutoff);
  if (warnings.length > 0) state.warnOfCutoff();
  return warnings;
}

async function readScope(view: ReadView, scope: ScopePatterns): Promise<[NamespaceState[], NamespaceRule[]]> {
  const namespaces = await view.namespaces(scope);
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
