import { z } from 'zod';
import { byRule } from './by-rule.ts';
import { jsonObjectSchema } from './json-value.ts';
import { nextCursorField } from './list-page.ts';
import { checkRange } from './memory-filter.ts';
import { cursorField, pageLimitField, timeRangeShape } from './page-query.ts';
import { wireInstant } from './wire-instant.ts';

const traceShape = {
  user_id: z
    .string()
    .meta({ description: 'The user who searched. Others than oneself: administrators.' })
    .optional(),
  ...timeRangeShape,
};

/** The query string of the kept traces. */
export const traceQuerySchema = z
  .strictObject({ ...traceShape, limit: pageLimitField.optional(), cursor: cursorField.optional() })
  .transform(byRule(checkRange, 'until'))
  .transform(({ user_id: userId, from, until, limit, cursor: after }) => ({
    userId,
    from,
    until,
    limit,
    after,
  }));

/** The query string of their export. */
export const traceExportQuerySchema = z
  .strictObject(traceShape)
  .transform(byRule(checkRange, 'until'))
  .transform(({ user_id: userId, from, until }) => ({ userId, from, until }));

export const wireStoredTraceSchema = z
  .strictObject({
    id: z.string().meta({ format: 'uuid' }),
    user_id: z.string(),
    created_at: wireInstant,
    query: z.string().nullable().meta({ description: 'Null while browsing, and where it is hidden.' }),
    is_query_hidden: z
      .boolean()
      .meta({
        description: "Set where an administrator reads a trace without its user's allow_admin_memory.",
      })
      .optional(),
    trace: jsonObjectSchema.meta({ description: 'As the search answers it with explain.' }),
  })
  .meta({ id: 'StoredTrace' });

export const wireTracePageSchema = z
  .strictObject({ traces: z.array(wireStoredTraceSchema), next_cursor: nextCursorField })
  .meta({ id: 'TracePage' });
