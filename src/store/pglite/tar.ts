/** Reading of the tar archives PGlite makes of a data directory: plain files and folders, names up to 100 bytes. */

export interface TarEntry {
  /** Path below the root of the archive, without a leading slash. */
  readonly path: string;
  /** A view into the archive; null for a folder. */
  readonly content: Uint8Array | null;
}

/** Headers and contents fill whole blocks. */
const BLOCK = 512;

/** The entries in order, a folder before what is in it. */
export function* readTar(archive: Uint8Array): Generator<TarEntry> {
  for (let start = 0; start + BLOCK <= archive.length; ) {
    const header = archive.subarray(start, start + BLOCK);
    const path = textField(header, 0, 100).replace(/^\/+/, '');
    if (path === '') return;
    const size = Number.parseInt(textField(header, 124, 12), 8);
    const type = textField(header, 156, 1);
    if (!Number.isSafeInteger(size) || start + BLOCK + size > archive.length || !['0', '5'].includes(type)) {
      throw new Error(`The tar archive is damaged at byte ${start}, in the header of "${path}".`);
    }
    const content = archive.subarray(start + BLOCK, start + BLOCK + size);
    yield { path, content: type === '5' ? null : content };
    start += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

/** Text up to the first NUL, without blanks around it. */
function textField(header: Uint8Array, offset: number, length: number): string {
  const field = header.subarray(offset, offset + length);
  const end = field.indexOf(0);
  return Buffer.from(end === -1 ? field : field.subarray(0, end))
    .toString('utf8')
    .trim();
}
