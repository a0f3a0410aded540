import { z } from 'zod';
import { excerpt, invalidInput } from '../core/errors.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../core/governance.ts';
import { byRule } from './by-rule.ts';
import { jsonObjectSchema } from './json-value.ts';
import { nextCursorField } from './list-page.ts';
import { checkRange } from './memory-filter.ts';
import {
  cursorField,
  namespaceQueryField,
  pageLimitField,
  repeatable,
  timeRangeShape,
} from './page-query.ts';
import { wireInstant } from './wire-instant.ts';

const auditShape = {
  action: repeatable(checkActions, 'action', `${AUDIT_ACTIONS.join(', ')}. May be repeated: any of them.`),
  actor_id: z.string().meta({ description: 'The user who did it.' }).optional(),
  memory_id: z.string().optional(),
  namespace: namespaceQueryField,
  ...timeRangeShape,
};

/** The query string of the audit. */
export const auditQuerySchema = z
  .strictObject({ ...auditShape, limit: pageLimitField.optional(), cursor: cursorField.optional() })
  .transform(byRule(checkRange, 'until'))
  .transform((query) => ({ ...auditFilterOf(query), limit: query.limit, after: query.cursor }));

/** The query string of the audit's export. */
export const auditExportQuerySchema = z
  .strictObject(auditShape)
  .transform(byRule(checkRange, 'until'))
  .transform(auditFilterOf);

function auditFilterOf(query: z.output<z.ZodObject<typeof auditShape>>) {
  return {
    actions: query.action,
    actorId: query.actor_id,
    memoryId: query.memory_id,
    scope: query.namespace,
    from: query.from,
    until: query.until,
  };
}

function checkActions(words: readonly string[], field: string): readonly AuditAction[] {
  return words.map((word) => {
    const action = AUDIT_ACTIONS.find((known) => known === word);
    if (action !== undefined) return action;
    throw invalidInput(`${field}: ${excerpt(word)} is not recorded. Allowed: ${AUDIT_ACTIONS.join(', ')}.`, {
      path: field,
      got: excerpt(word),
      allowed: [...AUDIT_ACTIONS],
    });
  });
}

export const wireAuditRecordSchema = z
  .strictObject({
    id: z.string().meta({ format: 'uuid' }),
    occurred_at: wireInstant,
    action: z.enum(AUDIT_ACTIONS),
    operation: z.string().nullable().meta({ example: 'refresh' }),
    actor_id: z.string(),
    namespace: z.string().nullable(),
    memory_id: z.string().nullable(),
    detail: jsonObjectSchema,
  })
  .meta({ id: 'AuditRecord' });

export const wireAuditPageSchema = z
  .strictObject({ records: z.array(wireAuditRecordSchema), next_cursor: nextCursorField })
  .meta({ id: 'AuditPage' });
