import { z } from 'zod';
import { DEFAULT_PAGE_SIZE } from '../core/defaults.ts';
import type { NamespaceReport } from '../core/governance.ts';
import { parseNamespacePath } from '../core/namespace.ts';
import { byRule } from './by-rule.ts';
import { nextCursorField } from './list-page.ts';
import { checkPageSize, namespaceQueryField, pageLimitField } from './page-query.ts';
import { wireInstant } from './wire-instant.ts';

/** The last path of the page before. */
const namespaceCursorField = z
  .string()
  .meta({ description: 'next_cursor of the page before.' })
  .transform(byRule(parseNamespacePath, 'cursor'))
  .optional();

/** The query string of the namespaces. */
export const namespaceQuerySchema = z
  .strictObject({
    namespace: namespaceQueryField,
    limit: pageLimitField.optional(),
    cursor: namespaceCursorField,
  })
  .transform(({ namespace: scope, limit, cursor: after }) => ({ scope, limit, after }));

/** The same where there is no query string: in the library. */
export const namespaceRequestSchema = z
  .strictObject({
    namespace: namespaceQueryField,
    limit: z.number().transform(byRule(checkPageSize, 'limit')).default(DEFAULT_PAGE_SIZE),
    cursor: namespaceCursorField,
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

export interface NamespacePage {
  readonly namespaces: readonly NamespaceReport[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/**
 * A page as it is answered. A full one may be the last: the next is then empty, which costs less than counting
 * every page.
 */
export function namespacePage(namespaces: readonly NamespaceReport[], limit: number): NamespacePage {
  const last = namespaces.length < limit ? undefined : namespaces.at(-1);
  return { namespaces, nextCursor: last?.path ?? null };
}
