import { expect, test } from 'vitest';
import { nearestName } from './nearest-name.ts';

const KNOWN = ['namespace', 'namespaces', 'content', 'top_k', 'min_score', 'gt', 'gte', 'in', 'nin'];

test.each([
  // one extra separator: no difference at all
  ['namespaces_', 'namespaces'],
  ['nmaespace', 'namespace'], // a swap of neighbours is one edit
  ['contnet', 'content'],
  ['topK', 'top_k'],
  ['minscore', 'min_score'],
  ['gtr', 'gt'],
])('%s is taken for %s', (misspelt, meant) => {
  expect(nearestName(misspelt, KNOWN)).toBe(meant);
});

test('a name unlike all others has no neighbour', () => {
  expect(nearestName('weights', KNOWN)).toBeNull();
  expect(nearestName('', KNOWN)).toBeNull();
  expect(nearestName('x', [])).toBeNull();
});

test('of two equally close names the first listed is named', () => {
  expect(nearestName('cat', ['car', 'cap'])).toBe('car');
});
