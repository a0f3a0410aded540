import { expect, test } from 'vitest';
import { rejection } from '../../test/helpers/refusal.ts';
import type { Identity } from '../core/identity.ts';
import { createAuthenticator } from './authenticator.ts';

const identity = (userId: string): Identity => ({
  principal: { tenantId: 't', userId, isAdmin: false, isTenantWide: false },
  scopes: ['read'],
  keyId: null,
  tokenId: null,
  agentId: null,
});

const both = createAuthenticator({
  key: async (key) => identity(`key ${key}`),
  token: async (token) => identity(`token ${token}`),
});

test.each([
  [{ authorization: 'Bearer pal_1_x' }, 'key pal_1_x'],
  [{ authorization: 'bearer   pal_1_x ' }, 'key pal_1_x'],
  [{ 'x-api-key': 'pal_1_x' }, 'key pal_1_x'],
  [{ authorization: 'Bearer a.b.c' }, 'token a.b.c'],
])('%j is %s', async (headers, user) => {
  expect((await both.authenticate(headers)).principal.userId).toBe(user);
});

test.each([
  [{}, /does not say who asks/],
  [{ authorization: '' }, /not in a form/],
  [{ authorization: 'Basic YTpi' }, /not in a form/],
  [{ authorization: 'Bearer' }, /not in a form/],
  [{ authorization: 'Bearer a b' }, /not in a form/],
  [{ authorization: 'Bearer a.b.c', 'x-api-key': 'pal_1_x' }, /two credentials/],
  [{ 'x-api-key': 'a.b.c' }, /X-API-Key does not hold an API key/],
  [{ 'x-api-key': ['pal_1_x', 'pal_2_y'] }, /not in a form/],
])('%j is refused', async (headers, message) => {
  const refusal = await rejection(both.authenticate(headers));
  expect(refusal.code).toBe('unauthenticated');
  expect(refusal.message).toMatch(message);
});

test('a kind of credential nobody checks is refused, with the kinds that are', async () => {
  const keysOnly = createAuthenticator({ key: async () => identity('x') });
  const refusal = await rejection(keysOnly.authenticate({ authorization: 'Bearer a.b.c' }));
  expect(refusal.message).toBe('This kind of credential is not accepted here. Accepted: an API key.');
  const none = createAuthenticator({});
  expect((await rejection(none.authenticate({ 'x-api-key': 'pal_1_x' }))).message).toMatch(/Accepted: none/);
});

test('a refusal never repeats the credential', async () => {
  for (const headers of [
    { authorization: 'Basic c2VjcmV0' },
    { 'x-api-key': 'c2VjcmV0' },
    { authorization: 'Bearer c2VjcmV0 c2VjcmV0' },
  ]) {
    const refusal = await rejection(both.authenticate(headers));
    expect(JSON.stringify([refusal.message, refusal.details])).not.toContain('c2VjcmV0');
  }
});
