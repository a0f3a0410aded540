import { expect, test } from 'vitest';
import { refusal } from '../../test/helpers/refusal.ts';
import { loadConfig } from './config.ts';

const retentionOf = (environment: Record<string, string>) =>
  loadConfig({}, environment, () => undefined).retention;

test('audit is kept a year and traces a month, unless it is said otherwise; 0 is a value', () => {
  expect(retentionOf({})).toEqual({ auditDays: 365, traceDays: 30 });
  expect(retentionOf({ PALIMPSEST_AUDIT_DAYS: 'forever', PALIMPSEST_TRACE_DAYS: '0' })).toEqual({
    auditDays: null,
    traceDays: 0,
  });
  expect(retentionOf({ PALIMPSEST_AUDIT_DAYS: '36500' }).auditDays).toBe(36_500);
});

test.each(['-1', '1.5', '36501', 'never', '30d', ' 30'])('%j days are refused', (value) => {
  const refused = refusal(() => retentionOf({ PALIMPSEST_TRACE_DAYS: value }));
  expect(refused.code).toBe('invalid_config');
  expect(refused.message).toMatch(/PALIMPSEST_TRACE_DAYS/);
});
