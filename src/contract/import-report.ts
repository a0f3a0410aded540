import { z } from 'zod';
import { wireErrorSchema } from './error-body.ts';

/** How far an import is, or how it ended. */
export const wireImportReportSchema = z
  .strictObject({
    status: z.enum(['running', 'done', 'failed']),
    lines: z.int().meta({ description: 'Lines read so far.' }),
    stored: z.int().meta({ description: 'Entries stored so far: created and refreshed.' }),
    created: z.int(),
    refreshed: z.int(),
    error: wireErrorSchema.shape.error.nullable().meta({ description: 'Why it failed, and at which line.' }),
  })
  .meta({ id: 'ImportReport' });
