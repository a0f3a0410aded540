import type { z } from 'zod';
import { encodeListCursor } from '../contract/list-cursor.ts';
import type { ShownListPage } from '../contract/list-page.ts';
import type { ShownEntry } from '../contract/memory-entry.ts';
import type { ShownRecallAnswer } from '../contract/recall-answer.ts';
import { toolEntrySchema, toolReceiptSchema } from '../contract/tools/tool-fields.ts';
import type { MEMORY_TOOLS } from '../contract/tools/tools.ts';
import { toWire } from '../contract/wire-form.ts';
import { jsonText } from '../core/json-text.ts';
import type { TokenCounter } from '../core/ports.ts';
import { fitPage, type Page } from './fit-page.ts';

/** What the tools answer, in wire form and within their budgets. */

type WireOf<Name extends keyof typeof MEMORY_TOOLS> = z.input<(typeof MEMORY_TOOLS)[Name]['output']>;

export interface PageOptions {
  readonly budget: number;
  readonly counter: TokenCounter;
}

export function wireReceipt(entry: ShownEntry): z.input<typeof toolReceiptSchema> {
  return toWire(toolReceiptSchema, entry);
}

/** The memories of a list that fit, and where the next ones begin. */
export function listAnswer(page: ShownListPage, { budget, counter }: PageOptions): WireOf<'list'> {
  const items = page.entries.map((entry) => ({ id: entry.id, entry, wire: toWire(toolEntrySchema, entry) }));
  const answer = ({ shown, leftOut, passed }: Page<(typeof items)[number]>): WireOf<'list'> => {
    const last = items[passed - 1]?.entry;
    const rest = passed < items.length && last !== undefined ? encodeListCursor(last) : page.nextCursor;
    return { memories: shown.map(({ wire }) => wire), left_out: wireLeftOut(leftOut), next_cursor: rest };
  };
  const render = (fitted: Page<(typeof items)[number]>) => jsonText(answer(fitted));
  return answer(fitPage({ items, budget, counter, itemText: ({ wire }) => jsonText(wire), render }));
}

/**
 * The hits of a search that fit.
 *
 * @param skip - Hits that earlier answers have shown.
 * @param cursorAt - Makes the cursor that goes on after this many hits.
 */
export function searchAnswer(
  recalled: ShownRecallAnswer,
  {
    budget,
    counter,
    skip,
    cursorAt,
  }: PageOptions & { readonly skip: number; readonly cursorAt: (offset: number) => string },
): WireOf<'search'> {
  const items = recalled.hits.slice(skip).map(({ entry, similarity, score, relevance }) => {
    return { id: entry.id, wire: { entry: toWire(toolEntrySchema, entry), similarity, score, relevance } };
  });
  const answer = ({ shown, leftOut, passed }: Page<(typeof items)[number]>): WireOf<'search'> => ({
    trace_id: recalled.traceId,
    profile: recalled.profile,
    exact: recalled.exact,
    hits: shown.map(({ wire }) => wire),
    left_out: wireLeftOut(leftOut),
    next_cursor: passed < items.length ? cursorAt(skip + passed) : null,
  });
  const render = (fitted: Page<(typeof items)[number]>) => jsonText(answer(fitted));
  return answer(fitPage({ items, budget, counter, itemText: ({ wire }) => jsonText(wire), render }));
}

function wireLeftOut(leftOut: Page<unknown>['leftOut']): WireOf<'list'>['left_out'] {
  return leftOut.map(({ id, tokens }) => ({ id, tokens, reason: 'token_budget' }));
}
