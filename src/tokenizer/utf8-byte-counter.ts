import { utf8Length } from '../core/entry.ts';
import type { TokenCounter } from '../core/ports.ts';

export const UTF8_BYTES = 'utf8_bytes';

/**
 * Counts UTF-8 bytes: an upper bound for every tokenizer that works on bytes, since each of its tokens stands
 * for one byte at least. A quarter of the bytes, the usual estimate, is too few for code, numbers and most
 * scripts: `一` repeated takes a token for each three bytes.
 */
export const utf8ByteCounter: TokenCounter = { name: UTF8_BYTES, count: utf8Length };
