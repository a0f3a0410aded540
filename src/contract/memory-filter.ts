import { z } from 'zod';
import { checkTags, checkType } from '../core/entry.ts';
import { excerpt, invalidInput } from '../core/errors.ts';
import type { MemoryFilter, MemoryStatus } from '../core/types.ts';
import { byRule } from './by-rule.ts';
import { instantField } from './fields.ts';
import { parseMetadataFilter } from './metadata-filter.ts';

export const MEMORY_STATUSES = [
  'unconfirmed',
  'confirmed',
  'superseded',
] as const satisfies readonly MemoryStatus[];

/** Types one filter may name. */
const MAX_FILTER_TYPES = 64;

const tagList = z.array(z.string());

/** Narrowing of a search or a list. All given conditions must hold. */
export const memoryFilterSchema = z
  .strictObject({
    type: oneOrMany().transform(byRule(checkTypes, 'filter.type')).optional(),
    tags: z
      .union([
        tagList
          .transform(byRule(checkFilterTags, 'filter.tags'))
          .transform((all) => ({ all, any: undefined })),
        z.strictObject({
          any: tagList.transform(byRule(checkFilterTags, 'filter.tags.any')).optional(),
          all: tagList.transform(byRule(checkFilterTags, 'filter.tags.all')).optional(),
        }),
      ])
      .meta({ description: 'A list: all of them. {any, all}: at least one of any, and all of all.' })
      .optional(),
    status: oneOrMany().transform(byRule(checkStatuses, 'filter.status')).optional(),
    observed_at: z
      .strictObject({
        from: instantField('filter.observed_at.from', 'Inclusive.').optional(),
        until: instantField('filter.observed_at.until', 'Exclusive.').optional(),
      })
      .transform(byRule(checkRange, 'filter.observed_at'))
      .optional(),
    metadata: z
      .unknown()
      .meta({
        type: 'object',
        additionalProperties: true,
        description:
          'Conditions on metadata: {key: value} or {key: {operator: value}}, and {and: […]}, {or: […]}, {not: {…}}.',
        example: { project: 'atlas', year: { gte: 2024 } },
      })
      .transform(byRule(parseMetadataFilter, 'filter.metadata'))
      .optional(),
  })
  .transform(
    (filter): MemoryFilter => ({
      types: filter.type,
      tagsAny: filter.tags?.any,
      tagsAll: filter.tags?.all,
      statuses: filter.status,
      observedFrom: filter.observed_at?.from,
      observedUntil: filter.observed_at?.until,
      metadata: filter.metadata,
    }),
  );

/** A word or a list of words. */
export function oneOrMany() {
  return z.union([z.string().transform((word) => [word]), z.array(z.string())]);
}

function checkNotEmpty(list: readonly unknown[], field: string): void {
  if (list.length > 0) return;
  throw invalidInput(`${field}: an empty list names nothing. Leave it out for no condition.`, {
    path: field,
    got: 'an empty list',
  });
}

export function checkTypes(types: readonly string[], field: string): readonly string[] {
  checkNotEmpty(types, field);
  if (types.length > MAX_FILTER_TYPES) {
    throw invalidInput(`${field}: ${types.length} types are more than ${MAX_FILTER_TYPES}.`, {
      path: field,
      got: types.length,
      allowed: `1 to ${MAX_FILTER_TYPES} types`,
    });
  }
  return types.map((type) => checkType(type, field));
}

export function checkFilterTags(tags: readonly string[], field: string): readonly string[] {
  checkNotEmpty(tags, field);
  return checkTags(tags, field);
}

export function checkStatuses(words: readonly string[], field: string): readonly MemoryStatus[] {
  checkNotEmpty(words, field);
  return words.map((word) => {
    const status = MEMORY_STATUSES.find((known) => known === word);
    if (status !== undefined) return status;
    throw invalidInput(
      `${field}: ${excerpt(word)} is not a status. Allowed: ${MEMORY_STATUSES.join(', ')}.`,
      { path: field, got: excerpt(word), allowed: [...MEMORY_STATUSES] },
    );
  });
}

/** A range that ends before it starts matches nothing, which is never what was meant. */
export function checkRange<Range extends { from?: Date | undefined; until?: Date | undefined }>(
  range: Range,
  field: string,
): Range {
  if (range.from === undefined || range.until === undefined || range.from < range.until) return range;
  throw invalidInput(`${field}: until must be later than from.`, {
    path: field,
    got: { from: range.from.toISOString(), until: range.until.toISOString() },
    allowed: 'from < until',
  });
}
