import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { describe, expect, test } from 'vitest';
import { estimateTokens } from './estimate-tokens.ts';

describe('estimating tokens', () => {
  test('counts thirds of words, and each other character', () => {
    // "abcdefg" is ceil(7 / 3) = 3, "ab" is 1, "!?" are 2, "日本" are 2.
    expect(estimateTokens('abcdefg ab!? 日本')).toBe(3 + 1 + 2 + 2);
    expect(estimateTokens(' \n')).toBe(0);
  });

  test('is not below a real encoding for prose, code and addresses', () => {
    const texts = [
      'She sells sea shells by the sea shore, and internationalisation is a long word.',
      "if (entries.length === 0) throw new Error(`nothing in ${namespace}`); // don't",
      'https://example.com/a/b?c=d&e=f ann@example.org 2024-05-01T10:00:00Z',
    ];
    for (const text of texts) expect(estimateTokens(text)).toBeGreaterThanOrEqual(countTokens(text));
  });
});
