import { z } from 'zod';
import { parseNamespacePath } from '../core/namespace.ts';
import { byRule } from './by-rule.ts';
import { nextCursorField } from './list-page.ts';
import { namespaceQueryField, pageLimitField } from './page-query.ts';
import { wireInstant } from './wire-instant.ts';

/** The query string of the namespaces. Their cursor is the last path of the page before. */
export const namespaceQuerySchema = z
  .strictObject({
    namespace: namespaceQueryField,
    limit: pageLimitField.optional(),
    cursor: z
      .string()
      .meta({ description: 'next_cursor of the page before.' })
      .transform(byRule(parseNamespacePath, 'cursor'))
      .optional(),
  })
  .transform(({ namespace: scope, limit, cursor: after }) => ({ scope, limit, after }));

export const wireNamespaceSchema = z
  .strictObject({
    path: z.string(),
    owner_id: z.string().nullable().meta({ description: 'The user it belongs to; null: the tenant.' }),
    version: z.int().meta({ description: 'Rises with every change of anything in it.' }),
    created_at: wireInstant,
    updated_at: wireInstant.meta({ description: 'Last change of anything in it.' }),
    live_count: z.int().meta({ description: 'Entries a search can find.' }),
    total_count: z.int().meta({ description: 'Superseded, expired and deleted ones too.' }),
    content_bytes: z.int().meta({ description: 'UTF-8 bytes of all contents.' }),
  })
  .meta({ id: 'Namespace' });

export const wireNamespacePageSchema = z
  .strictObject({ namespaces: z.array(wireNamespaceSchema), next_cursor: nextCursorField })
  .meta({ id: 'NamespacePage' });
