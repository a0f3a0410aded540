import { z } from 'zod';
import { parseNamespacePath } from '../../core/namespace.ts';
import { byRule } from '../by-rule.ts';
import { importLineSchema } from '../import-line.ts';
import { wireImportReportSchema } from '../import-report.ts';
import { exportQuerySchema } from '../list-request.ts';
import { wireEntrySchema } from '../memory-entry.ts';
import { defineRoute } from './route.ts';

const TAG = 'Export and import';

const importQuerySchema = z.strictObject({
  namespace: z
    .string()
    .meta({ description: 'For lines that name none.' })
    .transform(byRule(parseNamespacePath, 'namespace'))
    .optional(),
  progress: z
    .enum(['none', 'lines'])
    .meta({
      description:
        'lines: a report per line while the import runs, at most one a second, the last of which says how it ended. Default none: one report, or an error, when it has ended.',
    })
    .optional(),
});

export const streamRoutes = {
  exportMemories: defineRoute({
    method: 'GET',
    path: '/v1/export',
    scope: 'read',
    tag: TAG,
    summary: 'Export entries',
    query: exportQuerySchema,
    answers: { 200: 'One entry per line, newest first.' },
    answer: wireEntrySchema,
    answerForm: 'json_lines',
    errors: [],
    example: { query: 'namespace=vector.user.ada.*' },
  }),
  importMemories: defineRoute({
    method: 'POST',
    path: '/v1/import',
    scope: 'write',
    tag: TAG,
    summary: 'Import entries',
    description:
      'One entry per line, as an export writes them or as {id, namespace, content, observed_at, speaker, metadata}. Stored in batches of up to 500, each all or nothing. The import ends at the first line that is refused and names it; what was stored before it stays, and importing again refreshes it.',
    query: importQuerySchema,
    body: importLineSchema,
    bodyForm: 'json_lines',
    answers: { 200: 'How many entries were stored.' },
    answer: wireImportReportSchema,
    errors: ['conflict', 'embedding_failed'],
    example: { query: 'namespace=vector.user.ada.imported' },
  }),
};
