import { describe, expect, test } from 'vitest';
import { candidate } from '../../test/helpers/candidates.ts';
import { BOOSTED_PROFILE } from '../core/defaults.ts';
import type { RecallTrace } from '../core/ranking/trace.ts';
import type { JsonObject } from '../core/types.ts';
import { LOCAL_OPERATOR } from './local-operator.ts';
import { storedTrace } from './stored-trace.ts';

/** A trace over so many namespaces, `n000` and on. */
function traceOver(count: number): RecallTrace {
  const namespaces = Array.from({ length: count }, (_, index) => `n${String(index).padStart(3, '0')}`);
  const inNamespace = (namespace: string) => ({
    candidate: candidate({ id: namespace, namespace }),
    score: 0.5,
    breakdown: null,
  });
  return {
    id: 'trace',
    now: 0,
    query: 'a private question',
    profile: BOOSTED_PROFILE,
    parameters: { topK: 1, minScore: 0, relativeCutoff: 0 },
    namespaces,
    rules: namespaces.map((namespace) => ({ namespace, rules: [{ pattern: '*', bonus: 0.1 }] })),
    hits: [{ ...inNamespace(`n${count - 1}`), duplicates: [inNamespace(`n${count - 2}`)] }],
    cut: [{ ...inNamespace(`n${count - 3}`), reason: 'top_k', threshold: null, duplicateOf: null }],
    cutCount: 1,
    index: 'exact_scan',
    exact: true,
    certificate: { exact: true, bound: null, kthScore: 0.5 },
    embeddingModelId: 'm',
    measures: [{ modelId: 'm', insteadOf: null, namespaces, waiting: 0 }],
    degraded: false,
    timings: {},
  };
}

/** Keeps what the form is given, to look at it. */
function kept(trace: RecallTrace) {
  let given: RecallTrace | undefined;
  const stored = storedTrace(LOCAL_OPERATOR, trace, (one) => {
    given = one;
    return { query: one.query, namespaces: [...one.namespaces] } satisfies JsonObject;
  });
  if (given === undefined) throw new Error('The trace was not put into its form.');
  return { stored, given };
}

test('the query is kept apart from the trace', () => {
  const { stored } = kept(traceOver(3));
  expect(stored.query).toBe('a private question');
  expect(stored.trace).not.toHaveProperty('query');
  expect(stored.userId).toBe(LOCAL_OPERATOR.principal.userId);
});

describe('the namespaces', () => {
  test('of a scope of 200 are all kept', () => {
    const trace = traceOver(200);
    const { stored, given } = kept(trace);
    expect(given).toBe(trace);
    expect(stored.trace.namespace_count).toBe(200);
  });

  test('of a larger one are counted, and those of every hit, duplicate and cut candidate are kept', () => {
    const { stored, given } = kept(traceOver(900));
    expect(stored.trace.namespace_count).toBe(900);
    expect(given.namespaces).toHaveLength(200);
    expect(given.namespaces.slice(-3)).toEqual(['n897', 'n898', 'n899']);
    expect(given.namespaces.slice(0, 2)).toEqual(['n000', 'n001']);
    expect(given.rules.map(({ namespace }) => namespace)).toEqual(given.namespaces);
    expect(given.measures[0]?.namespaces).toEqual(given.namespaces);
  });
});
