import type { NewTrace } from '../core/governance.ts';
import type { RecallTrace } from '../core/ranking/trace.ts';
import type { Access, JsonObject } from '../core/types.ts';

/**
 * Namespaces a kept trace names: all of most scopes. One of ten thousand (a namespace per chat) would have it grow to
 * half a megabyte, at every search.
 */
const KEPT_NAMESPACES = 200;

/**
 * A trace as it is kept. The query stands in a column of its own, so that it can be kept from those who may not read
 * it. Of a very large scope the trace names the namespaces that what it shows is in, then others by path, and says
 * how many there were (`namespace_count`).
 */
export function storedTrace(
  { principal }: Access,
  trace: RecallTrace,
  traceForm: (trace: RecallTrace) => JsonObject,
): NewTrace {
  const { query, ...form } = traceForm(shortened(trace));
  return {
    id: trace.id,
    userId: principal.userId,
    createdAt: new Date(trace.now),
    query: trace.query,
    trace: { ...form, namespace_count: trace.namespaces.length },
  };
}

function shortened(trace: RecallTrace): RecallTrace {
  if (trace.namespaces.length <= KEPT_NAMESPACES) return trace;
  const shown = [...trace.hits.flatMap((hit) => [hit, ...hit.duplicates]), ...trace.cut];
  const kept = new Set(shown.map(({ candidate }) => candidate.namespace));
  for (const namespace of trace.namespaces) {
    if (kept.size >= KEPT_NAMESPACES) break;
    kept.add(namespace);
  }
  const isKept = (namespace: string) => kept.has(namespace);
  return {
    ...trace,
    namespaces: trace.namespaces.filter(isKept),
    rules: trace.rules.filter(({ namespace }) => isKept(namespace)),
    measures: trace.measures.map((measure) => ({
      ...measure,
      namespaces: measure.namespaces?.filter(isKept) ?? null,
    })),
  };
}
