import type { ListPage, ListQuery } from '../../core/ports.ts';
import type { Access } from '../../core/types.ts';
import { type EntryRow, toEntry } from '../entry-row.ts';
import { selectPage } from '../queries/list.ts';
import type { SqlTransaction } from '../sql-database.ts';

/** One page, and where the next one starts. One row more than asked for tells whether there is a next. */
export async function listPage(tx: SqlTransaction, access: Access, query: ListQuery): Promise<ListPage> {
  const rows = await tx.query<EntryRow>(
    selectPage(access.principal.tenantId, { ...query, limit: query.limit + 1 }),
  );
  const entries = rows.slice(0, query.limit).map(toEntry);
  const last = entries.at(-1);
  const isLastPage = rows.length <= query.limit || last === undefined;
  return { entries, next: isLastPage ? null : { createdAt: last.createdAt, id: last.id } };
}
