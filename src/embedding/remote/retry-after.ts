import { MAX_SERVICE_PAUSE_MS } from '../../core/defaults.ts';

/**
 * Milliseconds a service asks to wait, from `retry-after-ms`, or from `Retry-After` as seconds or as a date (RFC
 * 9110, section 10.2.3), at most `MAX_SERVICE_PAUSE_MS`; undefined where neither means anything.
 *
 * @param now milliseconds since the epoch, for the date form
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const asked = askedMs(headers, now);
  return asked === undefined ? undefined : Math.min(asked, MAX_SERVICE_PAUSE_MS);
}

function askedMs(headers: Headers, now: number): number | undefined {
  const milliseconds = notNegative(headers.get('retry-after-ms'), 1);
  if (milliseconds !== undefined) return milliseconds;
  const value = headers.get('retry-after');
  const seconds = notNegative(value, 1000);
  if (seconds !== undefined || value === null) return seconds;
  // Date.parse makes a date of almost anything, of "-5" too.
  const date = value.trim().endsWith('GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function notNegative(value: string | null, unit: number): number | undefined {
  return value !== null && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) * unit : undefined;
}
