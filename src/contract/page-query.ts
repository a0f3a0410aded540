import { z } from 'zod';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../core/defaults.ts';
import { excerpt, invalidInput } from '../core/errors.ts';
import { parseScope } from '../core/namespace.ts';
import { byRule } from './by-rule.ts';
import { instantField } from './fields.ts';
import { decodeListCursor } from './list-cursor.ts';
import { oneOrMany } from './memory-filter.ts';
import { wholeNumber } from './query-string.ts';

/** What the query strings of all lists share. */

export const cursorField = z
  .string()
  .meta({ description: 'next_cursor of the page before.' })
  .transform(byRule(decodeListCursor, 'cursor'));

export const pageLimitField = z
  .string()
  .meta({
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
    description: 'Items per page.',
  })
  .transform(byRule(wholeNumber, 'limit'))
  .transform(byRule(checkPageSize, 'limit'));

/** A query-string field that may be repeated. */
export function repeatable<Out>(
  rule: (words: readonly string[], field: string) => Out,
  field: string,
  description: string,
) {
  return oneOrMany().meta({ description }).transform(byRule(rule, field)).optional();
}

/** Which namespaces a query string names. */
export const namespaceQueryField = repeatable(
  parseScope,
  'namespace',
  'Path (that namespace alone) or pattern (`p.*` is all below p). May be repeated. Default: everything you may read.',
);

/** `from` and `until` of a list that is ordered by time. */
export const timeRangeShape = {
  from: instantField('from', 'Inclusive.').optional(),
  until: instantField('until', 'Exclusive.').optional(),
};

export function checkPageSize(limit: number, field: string): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE_SIZE) return limit;
  throw invalidInput(`${field}: a page holds 1 to ${MAX_PAGE_SIZE} entries, not ${excerpt(limit)}.`, {
    path: field,
    got: excerpt(limit),
    allowed: `a whole number from 1 to ${MAX_PAGE_SIZE}`,
  });
}
