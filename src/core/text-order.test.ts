import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareCodePoints, compareCodeUnits } from './text-order.ts';

/** U+FFFD is one code unit above all surrogates; 😀 is U+1F600, two surrogates. */
const REPLACEMENT = '\ufffd';
const EMOJI = '😀';

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'ä', '\ud7ff', '\ue000', REPLACEMENT, EMOJI, '𝔸') });

test('by code unit, a surrogate comes before U+FFFD; by code point, after it', () => {
  expect(compareCodeUnits(EMOJI, REPLACEMENT)).toBeLessThan(0);
  expect(compareCodePoints(EMOJI, REPLACEMENT)).toBeGreaterThan(0);
});

describe('compareCodeUnits', () => {
  test("is JavaScript's own order", () => {
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        expect([...texts].sort(compareCodeUnits)).toEqual([...texts].sort());
      }),
    );
  });
});

describe('compareCodePoints', () => {
  test('is the order of the UTF-8 bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
      { numRuns: 1000 },
    );
  });

  test('a text comes after its own beginning, and equals itself', () => {
    expect(compareCodePoints('ab', 'a')).toBeGreaterThan(0);
    expect(compareCodePoints('', 'a')).toBeLessThan(0);
    expect(compareCodePoints('a', 'a')).toBe(0);
  });
});
