import { Readable } from 'node:stream';

/** Lines are handed on in pieces of about this many characters: one write each would cost more than the reading. */
const PIECE_LENGTH = 64 * 1024;

/**
 * A stream of JSON Lines. It reads on only when the client does, and stops reading when the client goes away.
 *
 * The first item is waited for, so that what fails before there is anything to show is an answer of its own; what
 * fails later breaks the stream off, which a client can tell from its end.
 */
export async function toJsonLines<Item>(
  items: AsyncIterable<Item>,
  shown: (item: Item) => unknown,
): Promise<Readable> {
  const iterator = items[Symbol.asyncIterator]();
  const first = await iterator.next();
  return Readable.from(pieces(iterator, first, shown), { objectMode: false });
}

async function* pieces<Item>(
  iterator: AsyncIterator<Item>,
  first: IteratorResult<Item>,
  shown: (item: Item) => unknown,
): AsyncGenerator<string> {
  let piece = '';
  try {
    for (let next = first; next.done !== true; next = await iterator.next()) {
      piece += `${JSON.stringify(shown(next.value))}\n`;
      if (piece.length < PIECE_LENGTH) continue;
      yield piece;
      piece = '';
    }
    if (piece !== '') yield piece;
  } finally {
    await iterator.return?.();
  }
}
