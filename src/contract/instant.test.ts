import { expect, test } from 'vitest';
import { PalimpsestError } from '../core/errors.ts';
import { parseInstant } from './instant.ts';

test.each([
  ['2026-05-02T09:30:00Z', '2026-05-02T09:30:00.000Z'],
  ['2026-05-02t09:30z', '2026-05-02T09:30:00.000Z'],
  // 09:30 at two hours ahead of UTC is 07:30 UTC
  ['2026-05-02T09:30:00.5+02:00', '2026-05-02T07:30:00.500Z'],
  // half an hour after midnight, five and a half hours behind, is 06:00 UTC
  ['2026-05-02T00:30:00-05:30', '2026-05-02T06:00:00.000Z'],
  ['2026-05-02', '2026-05-02T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  // digits below a millisecond are cut off, not rounded
  ['2026-05-02T09:30:00.123999Z', '2026-05-02T09:30:00.123Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0099-12-31', '0099-12-31T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
])('%s is %s', (text, expected) => {
  expect(parseInstant(text, 'observed_at').toISOString()).toBe(expected);
});

test.each([
  ['', 'is not a date'],
  ['yesterday', 'is not a date'],
  ['2026-5-2', 'is not a date'],
  ['1767225600', 'is not a date'],
  ['+012026-01-01T00:00:00Z', 'is not a date'],
  ['2026-05-02T09:30:00', 'has a time but no offset'],
  ['2026-02-30', 'does not exist'],
  ['2025-02-29T00:00:00Z', 'does not exist'],
  ['2026-13-01', 'does not exist'],
  ['2026-00-10', 'does not exist'],
  ['2026-01-01T24:00:00Z', 'does not exist'],
  ['2026-01-01T23:59:60Z', 'does not exist'],
  ['2026-01-01T00:00:00+24:00', 'offset is beyond'],
  ['0000-12-31', 'outside the years'],
  // one hour before the first instant of year 1
  ['0001-01-01T00:00:00+01:00', 'outside the years'],
  ['9999-12-31T23:30:00-01:00', 'outside the years'],
])('%j is refused: %s', (text, problem) => {
  const parse = () => parseInstant(text, 'observed_at');
  expect(parse).toThrow(problem);
  expect(parse).toThrow(PalimpsestError);
});
