import { createHash, randomBytes } from 'node:crypto';
import type { KeySecret } from '../core/governance.ts';

/** 64 bits to look a key up by: two keys of one installation share a prefix about never, and may. */
const PREFIX_BYTES = 8;
/** 256 bits that nobody guesses, so that one plain SHA-256 keeps them (docs/decisions/api-keys.md). */
const SECRET_BYTES = 32;
const KEY = /^(pal_[0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;

/** Makes an API key, `pal_<16 hex digits>_<43 characters>`; the part before the second `_` is its prefix. */
export function createKeySecret(): KeySecret {
  const prefix = `pal_${randomBytes(PREFIX_BYTES).toString('hex')}`;
  const secret = `${prefix}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  return { secret, prefix, secretHash: hashKey(secret) };
}

/** SHA-256 of a whole key, 64 hex digits. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

/** The prefix of a text that has the form of a key, else null. */
export function prefixOfKey(text: string): string | null {
  return KEY.exec(text)?.[1] ?? null;
}
