import { excerpt } from '../core/errors.ts';
import { DEFAULT_RETENTION, type Retention } from '../core/governance.ts';
import { invalidConfig, type Setting, type Settings } from './setting.ts';

/**
 * - `PALIMPSEST_AUDIT_DAYS`: how long audit records are kept, default 365.
 * - `PALIMPSEST_TRACE_DAYS`: how long traces are kept, default 30.
 *
 * Both are days, 0 to 36500, or `forever`.
 */
export const RETENTION_NAMES = ['PALIMPSEST_AUDIT_DAYS', 'PALIMPSEST_TRACE_DAYS'] as const;

const FOREVER = 'forever';
const MAX_DAYS = 36_500;

/** @throws PalimpsestError `invalid_config` */
export function retentionConfig(setting: Settings<(typeof RETENTION_NAMES)[number]>): Retention {
  return {
    auditDays: days(setting('PALIMPSEST_AUDIT_DAYS'), DEFAULT_RETENTION.auditDays),
    traceDays: days(setting('PALIMPSEST_TRACE_DAYS'), DEFAULT_RETENTION.traceDays),
  };
}

function days({ value, name }: Setting, standard: number | null): number | null {
  if (value === undefined) return standard;
  if (value === FOREVER) return null;
  if (/^\d{1,5}$/.test(value) && Number(value) <= MAX_DAYS) return Number(value);
  throw invalidConfig(
    `${name} is no number of days: ${excerpt(value)}.`,
    value,
    `a whole number from 0 to ${MAX_DAYS}, or ${FOREVER}`,
    undefined,
  );
}
