import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { renderMemoryBlock } from '../../src/core/context/memory-block.ts';
import type { TokenCounter } from '../../src/core/ports.ts';
import { createTokenCounter } from '../../src/tokenizer/token-counter.ts';
import { hostileHits, RULES, VARIABLES } from '../helpers/hostile-hits.ts';

/** Counters that add up, that round, and that cost more or less where texts meet. */
const FAKES: TokenCounter[] = [
  { name: 'characters', count: (text) => text.length },
  { name: 'quarters', count: (text) => Math.ceil(text.length / 4) },
  { name: 'words', count: (text) => text.split(/\s+/).filter((word) => word !== '').length },
  { name: 'lines', count: (text) => (text === '' ? 0 : text.split('\n').length) },
  { name: 'superadditive', count: (text) => Math.floor(text.length ** 1.1) },
  { name: 'subadditive', count: (text) => Math.ceil(text.length ** 0.8) },
];

const counters = new Map(FAKES.map((counter) => [counter.name, counter]));
const NAMES = [...counters.keys(), 'o200k_base'];

beforeAll(async () => {
  counters.set('o200k_base', await createTokenCounter('o200k_base'));
});

function counterNamed(name: string): TokenCounter {
  const counter = counters.get(name);
  if (counter === undefined) throw new Error(`no counter ${name}`);
  return counter;
}

type Hits = Parameters<typeof renderMemoryBlock>[0]['hits'];

function render(hits: Hits, counter: string, tokenBudget: number) {
  return renderMemoryBlock({
    hits,
    rules: RULES,
    variables: VARIABLES,
    tokenBudget,
    counter: counterNamed(counter),
  });
}

/** Hits, and a budget that has to do with them: some share of what they would all take. */
const questions = fc.record({
  hits: hostileHits,
  share: fc.double({ min: 0, max: 1.2, noNaN: true }),
});

describe.each(NAMES)('counted by %s', (name) => {
  test('the block never exceeds its budget, and every hit is told of', () => {
    fc.assert(
      fc.property(questions, ({ hits, share }) => {
        const whole = render(hits, name, Number.MAX_SAFE_INTEGER);
        const budget = Math.floor(whole.tokenCount * share);
        const block = render(hits, name, budget);
        expect(block.tokenCount).toBe(counterNamed(name).count(block.text));
        expect(block.tokenCount).toBeLessThanOrEqual(budget);
        expect(block.truncated).toBe(block.leftOut.length > 0);
        const told = [...block.included, ...block.leftOut.map(({ id }) => id)].sort();
        expect(told).toEqual(hits.map(({ entry }) => entry.id).sort());
      }),
      { numRuns: 300 },
    );
  });
});

/** All but the last fake: no tokenizer makes of two texts so much less than of each. */
describe.each(NAMES.filter((name) => name !== 'subadditive'))('counted by %s', (name) => {
  test('a budget of exactly what the whole takes leaves nothing out', () => {
    fc.assert(
      fc.property(hostileHits, (hits) => {
        const whole = render(hits, name, Number.MAX_SAFE_INTEGER);
        expect(render(hits, name, whole.tokenCount)).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });
});

describe.each(['characters', 'quarters', 'o200k_base'])(
  'counted by %s, which adds up or nearly so',
  (name) => {
    test('the highest ranked that fit are kept: each one left out would not fit to the better ones', () => {
      fc.assert(
        fc.property(questions, ({ hits, share }) => {
          const budget = Math.floor(render(hits, name, Number.MAX_SAFE_INTEGER).tokenCount * share);
          const { included, leftOut } = render(hits, name, budget);
          for (const { id } of leftOut) {
            const place = hits.findIndex(({ entry }) => entry.id === id);
            const better = hits.slice(0, place).filter(({ entry }) => included.includes(entry.id));
            const withIt = render(
              [...better, ...hits.slice(place, place + 1)],
              name,
              Number.MAX_SAFE_INTEGER,
            );
            expect(withIt.tokenCount).toBeGreaterThan(budget);
          }
        }),
        { numRuns: 300 },
      );
    });
  },
);
