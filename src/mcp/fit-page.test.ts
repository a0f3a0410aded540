import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TokenCounter } from '../core/ports.ts';
import { fitPage, type Page } from './fit-page.ts';

/** One token a character: the arithmetic can be followed. */
const COUNTER: TokenCounter = { name: 'characters', count: (text) => text.length };

interface Item {
  readonly id: string;
  readonly text: string;
}

const item = (id: string, length: number): Item => ({ id, text: 'x'.repeat(length) });
const render = ({ shown, leftOut }: Page<Item>) =>
  `[${shown.map(({ text }) => text).join(',')}]${leftOut.map(({ id }) => id).join()}`;
const pageOf = (items: readonly Item[], budget: number) =>
  fitPage({ items, budget, counter: COUNTER, itemText: ({ text }) => text, render });
const ids = (page: Page<Item>) => page.shown.map(({ id }) => id);

test('a page ends before the first item that does not fit, and the next begins with it', () => {
  // The frame takes 2 of 100; items take their length and a separator: 41 + 41 = 82, and 21 more are too many.
  const items = [item('a', 40), item('b', 40), item('c', 20), item('d', 1)];
  const page = pageOf(items, 100);
  expect(ids(page)).toEqual(['a', 'b']);
  expect(page).toMatchObject({ passed: 2, leftOut: [] });
});

test('an item larger than any page is named and passed over', () => {
  const page = pageOf([item('a', 10), item('large', 500), item('b', 10)], 100);
  expect(ids(page)).toEqual(['a', 'b']);
  expect(page).toMatchObject({ passed: 3, leftOut: [{ id: 'large', tokens: 501 }] });
});

test('nothing to show is an empty page', () => {
  expect(pageOf([], 100)).toEqual({ shown: [], leftOut: [], passed: 0 });
});

test('whatever the sizes: within the budget, in order, every item shown or named once, and every page moves on', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 40 }),
      fc.integer({ min: 120, max: 600 }),
      (lengths, budget) => {
        const items = lengths.map((length, index) => item(`i${index}`, length));
        const seen: string[] = [];
        let rest = items;
        while (rest.length > 0) {
          const page = pageOf(rest, budget);
          expect(page.passed).toBeGreaterThan(0);
          expect(render(page).length).toBeLessThanOrEqual(budget);
          const named = new Set([...ids(page), ...page.leftOut.map(({ id }) => id)]);
          expect(rest.slice(0, page.passed).map(({ id }) => id)).toEqual(
            rest.filter(({ id }) => named.has(id)).map(({ id }) => id),
          );
          seen.push(...named);
          rest = rest.slice(page.passed);
        }
        expect(seen.sort()).toEqual(items.map(({ id }) => id).sort());
      },
    ),
  );
});
