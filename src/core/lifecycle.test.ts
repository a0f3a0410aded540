import { expect, test } from 'vitest';
import { lifecycleOf } from './lifecycle.ts';

const NOW = Date.parse('2026-05-02T12:00:00Z');
const LIVE = { deletedAt: null, supersededBy: null, expiresAt: null };
const ID = '01890000-0000-7000-8000-000000000000';

test('an entry is live until its expiry, and expired from that millisecond on', () => {
  expect(lifecycleOf(LIVE, NOW)).toBe('live');
  expect(lifecycleOf({ ...LIVE, expiresAt: new Date(NOW + 1) }, NOW)).toBe('live');
  expect(lifecycleOf({ ...LIVE, expiresAt: new Date(NOW) }, NOW)).toBe('expired');
});

test('superseded outlasts expired, and deleted outlasts both', () => {
  const expired = { ...LIVE, expiresAt: new Date(NOW - 1) };
  expect(lifecycleOf({ ...expired, supersededBy: ID }, NOW)).toBe('superseded');
  expect(lifecycleOf({ ...expired, supersededBy: ID, deletedAt: new Date(NOW) }, NOW)).toBe('deleted');
});
