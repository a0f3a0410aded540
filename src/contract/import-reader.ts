import { type ErrorDetail, PalimpsestError } from '../core/errors.ts';
import type { MemoryDraft } from '../core/types.ts';
import { parseImportLine } from './import-line.ts';
import { type JsonLine, readJsonLines } from './json-lines.ts';

/** Turns the lines of an import into drafts, and knows which lines the batch under way is made of. */
export class ImportReader {
  /** Bytes read so far. */
  position = 0;
  /** The line that is being read, or was read last; counted from 1. */
  line = 0;
  /** Whether a line itself was refused, rather than a batch. */
  #isLineRefused = false;
  /** Lines of the batch that is not stored yet, one for each of its drafts. */
  #pending: number[] = [];
  readonly #defaultNamespace: string | undefined;

  /** @param defaultNamespace - For lines that name none. */
  constructor(defaultNamespace: string | undefined) {
    this.#defaultNamespace = defaultNamespace;
  }

  async *drafts(input: AsyncIterable<Uint8Array>): AsyncGenerator<MemoryDraft> {
    for await (const line of readJsonLines(input)) {
      this.line = line.number;
      this.position = line.position;
      for (const draft of this.#parse(line)) {
        this.#pending.push(line.number);
        yield draft;
      }
    }
  }

  #parse({ value }: JsonLine): MemoryDraft[] {
    try {
      return parseImportLine(value, this.#defaultNamespace);
    } catch (error) {
      this.#isLineRefused = true;
      throw error;
    }
  }

  /** To be called after each batch: the lines so far are stored. */
  batchStored(): void {
    this.#pending = [];
  }

  /** The error of an import with the line it belongs to, and what has become of the lines before. */
  located(error: PalimpsestError, { stored }: { readonly stored: number }): PalimpsestError {
    const line = this.#isLineRefused ? this.line : this.#lineOf(error.details[0]?.item);
    const place = line === undefined ? '' : `Line ${line}: `;
    const rest = `Stored before it: ${stored}. Running the import again refreshes those.`;
    return new PalimpsestError(error.code, `${place}${error.message} ${rest}`, {
      details: line === undefined ? error.details : withLine(error.details, line),
      retryAfterSeconds: error.retryAfterSeconds,
      cause: error,
    });
  }

  #lineOf(item: number | undefined): number | undefined {
    return item === undefined ? undefined : this.#pending[item];
  }
}

function withLine(details: readonly ErrorDetail[], line: number): ErrorDetail[] {
  return details.length === 0 ? [{ line }] : details.map((detail) => ({ ...detail, line }));
}
