import { describe, expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const waitOf = (headers: Record<string, string>) => retryAfterMs(new Headers(headers), NOW);

describe('how long a service asks to wait', () => {
  test('seconds, also fractions and zero', () => {
    expect(waitOf({ 'retry-after': '2' })).toBe(2000);
    expect(waitOf({ 'retry-after': '0.25' })).toBe(250);
    expect(waitOf({ 'retry-after': '0' })).toBe(0);
  });

  test('a date, counted from now; one that has passed is no wait', () => {
    expect(waitOf({ 'retry-after': 'Thu, 01 Jan 2026 00:01:30 GMT' })).toBe(90_000);
    expect(waitOf({ 'retry-after': 'Wed, 31 Dec 2025 23:00:00 GMT' })).toBe(0);
  });

  test.each([
    ['a date of another century', { 'retry-after': 'Thu, 01 Jan 2099 00:00:00 GMT' }],
    ['more than a timer or a bigint holds', { 'retry-after': '99999999999999999999' }],
    ['more than a number holds', { 'retry-after': '9'.repeat(400) }],
    ['the same in milliseconds', { 'retry-after-ms': '9'.repeat(400) }],
  ])('%s is five minutes', (_, headers) => {
    expect(waitOf(headers)).toBe(300_000);
  });

  test('milliseconds are finer, so they win', () => {
    expect(waitOf({ 'retry-after-ms': '120', 'retry-after': '1' })).toBe(120);
  });

  test('nothing, and what means nothing, is undefined', () => {
    expect(waitOf({})).toBeUndefined();
    expect(waitOf({ 'retry-after': 'soon' })).toBeUndefined();
    expect(waitOf({ 'retry-after': '-5' })).toBeUndefined();
  });
});
