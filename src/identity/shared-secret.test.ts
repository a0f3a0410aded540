import { expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { createSecretCheck } from './shared-secret.ts';

test('lets in whoever shows the secret, and nobody else', () => {
  const { secret, check } = createSecretCheck();
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  expect(() => check(`Bearer ${secret}`)).not.toThrow();
  for (const shown of [undefined, '', secret, `Bearer ${secret}x`, `Bearer ${createSecretCheck().secret}`]) {
    expect(refusal(() => check(shown)).code).toBe('unauthenticated');
  }
});
