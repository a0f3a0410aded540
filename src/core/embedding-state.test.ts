import { describe, expect, test } from 'vitest';
import {
  activeModelOfStore,
  type EmbeddingAssignment,
  embeddingPlan,
  isWithin,
  parseEmbeddingScope,
  scopesWithin,
} from './embedding-state.ts';

function line(role: EmbeddingAssignment['role'], scope: string, modelId: string): EmbeddingAssignment {
  return { role, scope, model: { modelId, dimensions: 2, settings: null }, isCaughtUp: false };
}

const kept = (assignments: readonly EmbeddingAssignment[], namespace: string) =>
  embeddingPlan({ assignments })
    .kept(namespace)
    .map(({ role, model }) => `${role} ${model.modelId}`);

const ACTIVE = [line('active', '*', 'all'), line('active', 'a.b.*', 'below'), line('active', 'a.b.c', 'own')];

describe('the model of a namespace', () => {
  test.each([
    ['z', 'all'],
    ['a', 'all'],
    // `a.b.*` is all below a.b, not a.b itself.
    ['a.b', 'all'],
    ['a.b.x', 'below'],
    ['a.b.x.y', 'below'],
    // Both a.b.* and a.b.c cover it and have three segments: the literal one is more specific.
    ['a.b.c', 'own'],
    ['a.b.c.d', 'below'],
    ['a.bc.c', 'all'],
  ])('%s: %s', (namespace, modelId) => {
    expect(embeddingPlan({ assignments: ACTIVE }).active(namespace)?.modelId).toBe(modelId);
    expect(embeddingPlan({ assignments: ACTIVE.toReversed() }).active(namespace)?.modelId).toBe(modelId);
  });

  test('is none where nothing covers it', () => {
    expect(embeddingPlan({ assignments: [] }).active('a')).toBeNull();
    expect(activeModelOfStore({ assignments: ACTIVE.slice(1) })).toBeNull();
    expect(activeModelOfStore({ assignments: ACTIVE })?.modelId).toBe('all');
  });
});

describe('what is kept', () => {
  test('the active model first, then the fallback and the target, each model once', () => {
    const lines = [line('target', '*', 'next'), line('fallback', '*', 'stand-in'), ...ACTIVE];
    expect(kept(lines, 'z')).toEqual(['active all', 'fallback stand-in', 'target next']);
    expect(kept([line('target', '*', 'stand-in'), ...lines.slice(1)], 'z')).toEqual([
      'active all',
      'fallback stand-in',
    ]);
  });

  test('a change of a wider scope leaves alone what has a model of its own; one of its own scope does not', () => {
    expect(kept([line('target', '*', 'next'), ...ACTIVE], 'a.b.x')).toEqual(['active below']);
    expect(kept([line('target', 'a.b.*', 'next'), ...ACTIVE], 'a.b.x')).toEqual([
      'active below',
      'target next',
    ]);
    expect(kept([line('target', 'a.b.*', 'next'), ...ACTIVE], 'a.b.c')).toEqual(['active own']);
  });

  test('a target is kept where there is no active model yet', () => {
    expect(kept([line('target', '*', 'first')], 'a')).toEqual(['target first']);
  });
});

test('scopes within others', () => {
  expect(scopesWithin({ assignments: ACTIVE }, '*')).toEqual(['a.b.*', 'a.b.c']);
  expect(scopesWithin({ assignments: ACTIVE }, 'a.b.*')).toEqual(['a.b.c']);
  expect(scopesWithin({ assignments: ACTIVE }, 'a.b.c')).toEqual([]);
  expect(isWithin('a.bc', 'a.b.*')).toBe(false);
  expect(isWithin('a.b', 'a.b.*')).toBe(false);
  expect(isWithin('a.b.*', 'a.*')).toBe(true);
});

test.each(['*', 'a', 'a.b.c', 'a.b.*'])('%s can have a model of its own', (scope) => {
  expect(parseEmbeddingScope(scope)).toBe(scope);
});

test.each(['', 'a.*.b', '*.a', `a.\${x}`, 'a..b', 'a.*.*', 'vec*'])('%j can not', (scope) => {
  expect(() => parseEmbeddingScope(scope)).toThrow(/can't have a model of its own/);
});
