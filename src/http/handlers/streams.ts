import { toWireError } from '../../contract/error-body.ts';
import { ImportReader } from '../../contract/import-reader.ts';
import type { wireImportReportSchema } from '../../contract/import-report.ts';
import { shownEntry } from '../../contract/memory-entry.ts';
import type { streamRoutes } from '../../contract/routes/streams.ts';
import type { InCode } from '../../contract/wire-form.ts';
import { PalimpsestError } from '../../core/errors.ts';
import type { ImportProgress } from '../../service/import-entries.ts';
import { logError, toPalimpsestError } from '../error-response.ts';
import type { HandlerParts } from '../http-app.ts';
import type { RouteHandlers } from '../route-handler.ts';

type ImportReport = InCode<typeof wireImportReportSchema>;

/** A client that does not read while it sends must not be written to without end. */
const REPORT_EVERY_MS = 1000;

export function streamHandlers({ service }: HandlerParts): Pick<RouteHandlers, keyof typeof streamRoutes> {
  return {
    async exportMemories({ context, query }) {
      const now = service.now();
      const entries = service.exportEntries(context, query);
      return { lines: mapped(entries, (entry) => shownEntry(entry, now)) };
    },
    async importMemories({ context, query, body, request }) {
      const reader = new ImportReader(query.namespace);
      const progress = service.importEntries(context, reader.drafts(body));
      if (query.progress === 'lines') {
        return {
          lines: reportedImport(reader, progress, (error) => {
            const shown = toPalimpsestError(error);
            logError(request, shown, error);
            return toWireError(shown, request.id).error;
          }),
        };
      }
      return { body: await wholeImport(reader, progress) };
    },
  };
}

async function* mapped<In, Out>(items: AsyncIterable<In>, map: (item: In) => Out): AsyncGenerator<Out> {
  for await (const item of items) yield map(item);
}

const NOTHING: ImportProgress = { stored: 0, created: 0, refreshed: 0 };

async function wholeImport(
  reader: ImportReader,
  progress: AsyncIterable<ImportProgress>,
): Promise<ImportReport> {
  let reached = NOTHING;
  try {
    for await (const next of progress) {
      reached = next;
      reader.batchStored();
    }
  } catch (error) {
    throw located(error, reader, reached);
  }
  return report('done', reader, reached);
}

/** Reports while an import runs. Its end is the last line, since the status has been sent by then. */
async function* reportedImport(
  reader: ImportReader,
  progress: AsyncIterable<ImportProgress>,
  shownError: (error: unknown) => ImportReport['error'],
): AsyncGenerator<ImportReport> {
  let reached = NOTHING;
  let reportedAt = performance.now();
  try {
    for await (const next of progress) {
      reached = next;
      reader.batchStored();
      if (performance.now() - reportedAt < REPORT_EVERY_MS) continue;
      reportedAt = performance.now();
      yield report('running', reader, reached);
    }
  } catch (error) {
    yield { ...report('failed', reader, reached), error: shownError(located(error, reader, reached)) };
    return;
  }
  yield report('done', reader, reached);
}

function located(error: unknown, reader: ImportReader, reached: ImportProgress): unknown {
  return PalimpsestError.isInstance(error) ? reader.located(error, reached) : error;
}

function report(status: ImportReport['status'], reader: ImportReader, reached: ImportProgress): ImportReport {
  return { status, lines: reader.line, ...reached, error: null };
}
