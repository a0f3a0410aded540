import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeySecret, hashKey, prefixOfKey } from './key-secret.ts';

test('a key is pal_, 16 hex digits to look it up by, and 256 bits of randomness', () => {
  const { secret, prefix, secretHash } = createKeySecret();
  expect(secret).toMatch(/^pal_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
  expect(secret.startsWith(`${prefix}_`)).toBe(true);
  expect(prefix).toHaveLength(20);
  // 43 characters of base64url are 32 bytes.
  expect(Buffer.from(secret.slice(21), 'base64url')).toHaveLength(32);
  expect(secretHash).toBe(createHash('sha256').update(secret).digest('hex'));
});

test('no two keys share a secret or a prefix', () => {
  const keys = Array.from({ length: 1000 }, createKeySecret);
  expect(new Set(keys.map(({ secret }) => secret)).size).toBe(1000);
  expect(new Set(keys.map(({ prefix }) => prefix)).size).toBe(1000);
});

test('the prefix is read from what has the form of a key, also where the secret holds an underscore', () => {
  const secret = `pal_0123456789abcdef_${'_'.repeat(43)}`;
  expect(prefixOfKey(secret)).toBe('pal_0123456789abcdef');
  for (const text of [
    '',
    'pal_',
    'pal_0123456789abcdef',
    `${secret}x`,
    secret.slice(0, -1),
    secret.toUpperCase(),
    `x${secret}`,
    `pal_0123456789abcdeg_${'a'.repeat(43)}`,
    `pal_0123456789abcdef_${'a'.repeat(42)}.`,
  ]) {
    expect(prefixOfKey(text), text).toBeNull();
  }
});

test('the hash is of the whole key: one character more is another', () => {
  // printf abc | sha256sum
  expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(hashKey('abcd')).not.toBe(hashKey('abc'));
});
