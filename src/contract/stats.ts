import { z } from 'zod';
import { namespaceQueryField } from './page-query.ts';

export const statsQuerySchema = z
  .strictObject({ namespace: namespaceQueryField })
  .transform(({ namespace: scope }) => ({ scope }));

const count = z.int().meta({ minimum: 0 });

/** What the asker may read, counted. */
export const wireStatsSchema = z
  .strictObject({
    namespace_count: count,
    total_count: count.meta({ description: 'Entries in any part of their lives.' }),
    live_count: count.meta({ description: 'Entries a search can find.' }),
    superseded_count: count,
    expired_count: count,
    deleted_count: count,
    confirmed_count: count.meta({ description: 'Of the live ones.' }),
    content_bytes: count.meta({ description: 'UTF-8 bytes of all contents.' }),
    types: z
      .array(z.strictObject({ type: z.string(), live_count: count }))
      .meta({ description: 'The most frequent types of live entries, at most 50.' }),
  })
  .meta({ id: 'Stats' });
