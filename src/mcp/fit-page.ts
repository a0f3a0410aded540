import type { TokenCounter } from '../core/ports.ts';

export interface PageQuestion<Item extends { readonly id: string }> {
  /** In the order they are to be shown. */
  readonly items: readonly Item[];
  /** Tokens that the whole text may take. */
  readonly budget: number;
  readonly counter: TokenCounter;
  /** An item as it stands in the text. */
  readonly itemText: (item: Item) => string;
  /** The whole text. */
  readonly render: (page: Page<Item>) => string;
}

export interface Page<Item> {
  readonly shown: readonly Item[];
  /** Items that are larger than the whole budget, with what each takes by itself. */
  readonly leftOut: readonly { readonly id: string; readonly tokens: number }[];
  /** How many items the page passed; what comes after them is the next page's. */
  readonly passed: number;
}

/** Between two items stand a comma and its like. */
const SEPARATOR_TOKENS = 1;
/** An item that is left out is named by its id and size; JSON of a UUID takes some 25 tokens. */
const LEFT_OUT_TOKENS = 50;

/**
 * The first items whose whole text fits a budget. Unlike in a memory block, what does not fit is not passed over:
 * the next page begins with it. Only what no page of this size could show is.
 *
 * Token counts do not add up exactly, so the whole text has the last word.
 */
export function fitPage<Item extends { readonly id: string }>(question: PageQuestion<Item>): Page<Item> {
  const { items, budget, counter, itemText, render } = question;
  const room = budget - counter.count(render({ shown: [], leftOut: [], passed: 0 }));
  const shown: Item[] = [];
  const leftOut: { id: string; tokens: number }[] = [];
  let passed = 0;
  let used = 0;
  for (const item of items) {
    const tokens = counter.count(itemText(item)) + SEPARATOR_TOKENS;
    const isTooLarge = tokens > room;
    const cost = isTooLarge ? LEFT_OUT_TOKENS : tokens;
    if (used + cost > room) break;
    used += cost;
    passed += 1;
    if (isTooLarge) leftOut.push({ id: item.id, tokens });
    else shown.push(item);
  }
  let page: Page<Item> = { shown, leftOut, passed };
  while (counter.count(render(page)) > budget && page.passed > 1) page = shortened(page, items);
  return page;
}

/** The page without the last item it passed. */
function shortened<Item extends { readonly id: string }>(
  { shown, leftOut, passed }: Page<Item>,
  items: readonly Item[],
): Page<Item> {
  const last = items[passed - 1];
  return {
    shown: shown.filter((item) => item !== last),
    leftOut: leftOut.filter(({ id }) => id !== last?.id),
    passed: passed - 1,
  };
}
