import { z } from 'zod';
import { checkQueryText } from '../core/entry.ts';
import { excerpt, invalidInput } from '../core/errors.ts';
import type { Lifecycle } from '../core/ports.ts';
import type { MemoryFilter } from '../core/types.ts';
import { byRule } from './by-rule.ts';
import { instantField, namespacesField } from './fields.ts';
import {
  checkFilterTags,
  checkRange,
  checkStatuses,
  checkTypes,
  MEMORY_STATUSES,
  memoryFilterSchema,
} from './memory-filter.ts';
import { parseMetadataFilter } from './metadata-filter.ts';
import { checkPageSize, cursorField, namespaceQueryField, pageLimitField, repeatable } from './page-query.ts';
import { jsonText } from './query-string.ts';

export const LIFECYCLES = [
  'live',
  'superseded',
  'expired',
  'deleted',
  'any',
] as const satisfies readonly Lifecycle[];

const lifecycleField = z
  .string()
  .meta({ enum: [...LIFECYCLES], description: 'Default live: what a search can find.' })
  .transform(byRule(checkLifecycle, 'lifecycle'));

const textField = z
  .string()
  .meta({ description: 'Words that must all occur in the content, any case.' })
  .transform(byRule(checkQueryText, 'text'));

/** What an entry has to be like, as a query string says it. */
const filterQueryShape = {
  namespace: namespaceQueryField,
  type: repeatable(checkTypes, 'type', 'May be repeated: any of them.'),
  tag: repeatable(checkFilterTags, 'tag', 'May be repeated: all of them.'),
  any_tag: repeatable(checkFilterTags, 'any_tag', 'May be repeated: at least one of them.'),
  status: repeatable(checkStatuses, 'status', `${MEMORY_STATUSES.join(', ')}. May be repeated: any of them.`),
  observed_from: instantField('observed_from', 'Inclusive.').optional(),
  observed_until: instantField('observed_until', 'Exclusive.').optional(),
  metadata: z
    .string()
    .meta({ description: 'A metadata filter as JSON text.', example: '{"project":"atlas"}' })
    .transform(byRule(jsonText, 'metadata'))
    .transform(byRule(parseMetadataFilter, 'metadata'))
    .optional(),
  lifecycle: lifecycleField.optional(),
};

/** The query string of a list: `?namespace=a.*&type=fact&tag=red&limit=20`. A repeated `tag` means all of them. */
export const listQuerySchema = z
  .strictObject({
    ...filterQueryShape,
    text: textField.optional(),
    limit: pageLimitField.optional(),
    cursor: cursorField.optional(),
  })
  .transform(byRule(checkObserved, 'observed_until'))
  .transform((query) => ({
    ...filterOf(query),
    text: query.text,
    limit: query.limit,
    after: query.cursor,
  }));

/** The query string of an export: everything the list's has but pages and words. */
export const exportQuerySchema = z
  .strictObject(filterQueryShape)
  .transform(byRule(checkObserved, 'observed_until'))
  .transform(filterOf);

type FilterQuery = z.output<z.ZodObject<typeof filterQueryShape>>;

function checkObserved<Query extends FilterQuery>(query: Query): Query {
  checkRange({ from: query.observed_from, until: query.observed_until }, 'observed_until');
  return query;
}

function filterOf(query: FilterQuery) {
  return {
    namespaces: query.namespace,
    filter: {
      types: query.type,
      tagsAll: query.tag,
      tagsAny: query.any_tag,
      statuses: query.status,
      observedFrom: query.observed_from,
      observedUntil: query.observed_until,
      metadata: query.metadata,
    } satisfies MemoryFilter,
    lifecycle: query.lifecycle,
  };
}

/** What a list is narrowed by where there is no query string. */
export const listShape = {
  namespaces: namespacesField.optional(),
  filter: memoryFilterSchema.optional(),
  lifecycle: lifecycleField.optional(),
  text: textField.optional(),
};

/** The body of a list where there is no query string: the library and the command line. */
export const listRequestSchema = z
  .strictObject({
    ...listShape,
    limit: z.number().transform(byRule(checkPageSize, 'limit')).optional(),
    cursor: cursorField.optional(),
  })
  .transform(({ cursor: after, ...same }) => ({ ...same, after }));

/** What an export takes of a list's request. */
export const exportRequestSchema = z.strictObject({
  namespaces: namespacesField.optional(),
  filter: memoryFilterSchema.optional(),
  lifecycle: lifecycleField.optional(),
});

function checkLifecycle(word: string, field: string): Lifecycle {
  const lifecycle = LIFECYCLES.find((known) => known === word);
  if (lifecycle !== undefined) return lifecycle;
  throw invalidInput(
    `${field}: ${excerpt(word)} is not a part of an entry's life. Allowed: ${LIFECYCLES.join(', ')}.`,
    {
      path: field,
      got: excerpt(word),
      allowed: [...LIFECYCLES],
    },
  );
}
