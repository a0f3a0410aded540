/** What the choice is made by: the price of each item, and the price of any set of them as a whole. */
export interface BudgetQuestion<Item> {
  /** Best first; told apart by identity. */
  readonly items: readonly Item[];
  /** In tokens, at least 0. */
  readonly budget: number;
  /** Tokens an item adds to the ones already kept, judged by its own text alone. */
  readonly estimate: (item: Item, kept: readonly Item[]) => number;
  /** Tokens of the whole text the items make; 0 for none. */
  readonly countWhole: (items: readonly Item[]) => number;
}

export interface BudgetAnswer<Item> {
  /** In the order given. */
  readonly kept: readonly Item[];
  readonly leftOut: readonly Item[];
  /** Tokens of the whole text the kept ones make, at most the budget. */
  readonly tokenCount: number;
}

/**
 * How far the estimate of one more item may lie above its true price and the item still be tried. Where two
 * texts meet, a tokenizer merges a few characters at most.
 */
const SEAM_TOLERANCE = 8;

/**
 * Keeps the best items whose whole text fits a budget. An item that is too large is skipped; a smaller one
 * behind it may still go in.
 *
 * Token counts do not add up exactly, so the whole text has the last word: it is counted before anything is
 * turned away that its own tokens do not plainly rule out, and for the result. Counting it for every item
 * instead gives the same and takes, for 200 items of 100 tokens, 200 times as long.
 */
export function keepWithinBudget<Item>(question: BudgetQuestion<Item>): BudgetAnswer<Item> {
  const { items, budget, estimate, countWhole } = question;
  const kept: Item[] = [];
  const leftOut = new Set<Item>();
  let tokenCount = 0;
  let isCounted = true;

  const countKept = () => {
    tokenCount = isCounted ? tokenCount : countWhole(kept);
    isCounted = true;
    // Estimates can come out too low as well; then the lowest ranked goes.
    while (tokenCount > budget) {
      const last = kept.pop();
      if (last === undefined) break;
      leftOut.add(last);
      tokenCount = countWhole(kept);
    }
  };
  const tryWhole = (item: Item) => {
    const whole = countWhole([...kept, item]);
    if (whole > budget) return leftOut.add(item);
    tokenCount = whole;
    return kept.push(item);
  };

  for (const item of items) {
    if (tokenCount + estimate(item, kept) > budget) countKept();
    const total = tokenCount + estimate(item, kept);
    if (total <= budget) {
      kept.push(item);
      tokenCount = total;
      isCounted = false;
    } else if (total <= budget + SEAM_TOLERANCE) {
      tryWhole(item);
    } else {
      leftOut.add(item);
    }
  }
  countKept();
  return { kept, leftOut: items.filter((item) => leftOut.has(item)), tokenCount };
}
