import { DEFAULT_RETENTION, type Retention } from '../core/governance.ts';
import { parsed } from './form.ts';
import { defineSettings, type ReadSetting } from './setting.ts';

const FOREVER = 'forever';
const MAX_DAYS = 36_500;

const days = parsed<number | null>(`a whole number of days from 0 to ${MAX_DAYS}, or ${FOREVER}`, (value) => {
  if (value === FOREVER) return null;
  return /^\d{1,5}$/.test(value) && Number(value) <= MAX_DAYS ? Number(value) : undefined;
});

export const RETENTION_SETTINGS = defineSettings({
  auditDays: {
    key: 'retention.audit_days',
    variable: 'PALIMPSEST_AUDIT_DAYS',
    form: days,
    meaning: 'How long audit records are kept.',
    standard: String(DEFAULT_RETENTION.auditDays),
  },
  traceDays: {
    key: 'retention.trace_days',
    variable: 'PALIMPSEST_TRACE_DAYS',
    form: days,
    meaning: 'How long traces are kept.',
    standard: String(DEFAULT_RETENTION.traceDays),
  },
});

/** @throws PalimpsestError `invalid_config` */
export function retentionConfig(read: ReadSetting): Retention {
  const orStandard = (value: number | null | undefined, standard: number | null) =>
    value === undefined ? standard : value;
  return {
    auditDays: orStandard(read(RETENTION_SETTINGS.auditDays).value, DEFAULT_RETENTION.auditDays),
    traceDays: orStandard(read(RETENTION_SETTINGS.traceDays).value, DEFAULT_RETENTION.traceDays),
  };
}
