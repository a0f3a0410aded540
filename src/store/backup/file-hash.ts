import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

/** SHA-256 in hex of everything a stream gives. */
export async function fileHash(stream: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
