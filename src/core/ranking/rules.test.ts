import { describe, expect, test } from 'vitest';
import { rule } from '../../../test/helpers/candidates.ts';
import { matchRules } from './rules.ts';

describe('matchRules', () => {
  const rules = [rule('vector.global.*', 0.2), rule('notes', 0.1), rule('*', 0)];

  test('lists for each namespace the rules that cover it, sorted by pattern', () => {
    const matches = matchRules(rules, ['notes.work', 'vector.global.faq', 'elsewhere']);
    const patterns = [...matches].map(([namespace, found]) => [
      namespace,
      found.map(({ pattern }) => pattern),
    ]);
    expect(patterns).toEqual([
      ['notes.work', ['*', 'notes']],
      ['vector.global.faq', ['*', 'vector.global.*']],
      ['elsewhere', ['*']],
    ]);
  });

  test('gives a namespace that no rule covers an empty list', () => {
    expect(matchRules([rule('notes', 0.1)], ['other'])).toEqual(new Map([['other', []]]));
  });
});
