import { createHash } from 'node:crypto';

/** SHA-256 of a content's exact UTF-8 bytes, as 64 hex digits. Equal contents are found by it. */
export function contentHash(content: string): string {
  return createHash('sha256').update(content, 'utf8').digest('hex');
}
