import { expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { parseContract } from './parse-contract.ts';
import { recallRequestSchema } from './recall-request.ts';

const parse = (value: unknown) => parseContract(recallRequestSchema, value);

test('every field reaches the core’s names, zero as a value', () => {
  expect(
    parse({
      query: 'tea',
      namespaces: ['a', 'b.*', 'c.${user_id}'],
      filter: {
        type: 'fact',
        tags: { any: ['x'], all: ['y', 'z'] },
        status: ['confirmed'],
        observed_at: { from: '2026-01-01', until: '2026-02-01' },
        metadata: { project: 'atlas' },
      },
      profile: 'weighted',
      top_k: 3,
      min_score: 0,
      relative_cutoff: 0,
      explain: true,
    }),
  ).toEqual({
    query: 'tea',
    namespaces: ['a', 'b.*', 'c.${user_id}'],
    filter: {
      types: ['fact'],
      tagsAny: ['x'],
      tagsAll: ['y', 'z'],
      statuses: ['confirmed'],
      observedFrom: new Date('2026-01-01'),
      observedUntil: new Date('2026-02-01'),
      metadata: { kind: 'compare', path: ['project'], flatKey: null, operator: 'eq', value: 'atlas' },
    },
    profile: 'weighted',
    topK: 3,
    minScore: 0,
    relativeCutoff: 0,
    explain: true,
  });
});

test('a list of tags means all of them, a list of types any of them', () => {
  expect(parse({ filter: { type: ['fact', 'note'], tags: ['x', 'y'] } }).filter).toMatchObject({
    types: ['fact', 'note'],
    tagsAll: ['x', 'y'],
    tagsAny: undefined,
  });
});

test('nothing at all is browsing everything', () => {
  expect(parse({})).toEqual({ topK: undefined, minScore: undefined, relativeCutoff: undefined });
});

test.each<[string, unknown, string]>([
  ['a blank query', { query: ' ' }, 'leave it out to browse'],
  ['an empty scope', { namespaces: [] }, 'an empty list names no namespace'],
  ['a scope that is a text', { namespaces: 'a.*' }, 'a list'],
  ['part of a segment as wildcard', { namespaces: ['a', 'vec*'] }, 'namespaces[1]'],
  ['65 patterns', { namespaces: Array.from({ length: 65 }, (_, i) => `n${i}`) }, 'more than 64'],
  ['filters for filter', { filters: { namespace: 'x' } }, 'Did you mean filter?'],
  ['a namespace in the filter', { filter: { namespace: 'x' } }, 'filter.namespace: this field is unknown'],
  ['an empty list of types', { filter: { type: [] } }, 'an empty list names nothing'],
  ['an empty list of tags', { filter: { tags: [] } }, 'an empty list names nothing'],
  ['an unknown status', { filter: { status: 'deleted' } }, 'is not a status'],
  [
    'a range that ends before it starts',
    { filter: { observed_at: { from: '2026-02-01', until: '2026-01-01' } } },
    'later than from',
  ],
  [
    'a date without a meaning',
    { filter: { observed_at: { from: '2026-02-30' } } },
    'filter.observed_at.from: this date',
  ],
  ['a text for a number', { top_k: '5' }, 'a number'],
  ['infinity', { min_score: Number.POSITIVE_INFINITY }, 'a number'],
])('%s is refused', (_name, value, reason) => {
  const error = refusal(() => parse(value));
  expect(error.code).toBe('invalid_input');
  expect(error.message).toContain(reason);
});
