import type { RememberInput } from '../contract/inputs.ts';
import { ROUTES } from '../contract/routes/routes.ts';
import { PalimpsestError } from '../core/errors.ts';
import type { ImportOptions, ImportTotals } from './inputs.ts';
import type { Transport } from './transport.ts';

/** Entries of one request: as many as the server stores in one transaction. */
const MAX_LINES = 500;
/** Characters of one request, beyond which it is sent although it could hold more entries. */
const MAX_LENGTH = 4 * 1024 * 1024;

/**
 * Sends a stream of entries as imports of bounded size. One streamed request would be less work, but browsers
 * stream uploads over HTTP/2 only, if at all.
 */
export async function sendImport(
  transport: Transport,
  lineOf: (input: RememberInput) => Promise<string>,
  inputs: AsyncIterable<RememberInput> | Iterable<RememberInput>,
  { namespace, onProgress, signal }: ImportOptions,
): Promise<ImportTotals> {
  let totals: ImportTotals = { stored: 0, created: 0, refreshed: 0 };
  let lines: string[] = [];
  let length = 0;
  let sent = 0;
  const send = async () => {
    if (lines.length === 0) return;
    const parts = { query: { namespace }, lines: lines.join('') };
    const report = await transport.call(ROUTES.importMemories, parts, { signal }).catch((error: unknown) => {
      throw PalimpsestError.isInstance(error) ? ofWhole(error, sent, totals.stored) : error;
    });
    totals = {
      stored: totals.stored + report.stored,
      created: totals.created + report.created,
      refreshed: totals.refreshed + report.refreshed,
    };
    sent += lines.length;
    lines = [];
    length = 0;
    onProgress?.(totals);
  };
  for await (const input of inputs) {
    const line = await lineOf(input).catch((error: unknown) => {
      throw PalimpsestError.isInstance(error) ? ofLine(error, sent + lines.length + 1) : error;
    });
    lines.push(line);
    length += line.length;
    if (lines.length >= MAX_LINES || length >= MAX_LENGTH) await send();
  }
  await send();
  return totals;
}

/** The error of one request as that of the whole import: its lines and counts go on from the requests before. */
function ofWhole(error: PalimpsestError, sent: number, stored: number): PalimpsestError {
  const message = error.message
    .replace(/^Line (\d+): /, (_, line: string) => `Line ${Number(line) + sent}: `)
    .replace(
      /Stored before it: (\d+)\./,
      (_, count: string) => `Stored before it: ${Number(count) + stored}.`,
    );
  return new PalimpsestError(error.code, message, {
    details: error.details.map((detail) =>
      detail.line === undefined ? detail : { ...detail, line: detail.line + sent },
    ),
    retryAfterSeconds: error.retryAfterSeconds,
    cause: error,
  });
}

/** The refusal of an entry that was not sent. */
function ofLine(error: PalimpsestError, line: number): PalimpsestError {
  return new PalimpsestError(error.code, `Line ${line}: ${error.message}`, {
    details: error.details.map((detail) => ({ ...detail, line })),
    cause: error,
  });
}
