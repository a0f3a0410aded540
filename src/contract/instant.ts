import { excerpt, invalidInput, type PalimpsestError } from '../core/errors.ts';

/**
 * `2026-05-02T09:30:00Z`, `2026-05-02T09:30:00.123+02:00`, or a date alone, which means midnight UTC. A time
 * without an offset is refused: the server can't know whose clock it was read from.
 */
const ISO_8601 =
  /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})(?:[Tt](?<hour>\d{2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?(?<zone>[Zz]|[+-]\d{2}:\d{2})?)?$/;

const ALLOWED = 'ISO 8601 with Z or an offset, such as 2026-05-02T09:30:00Z, or a date alone (midnight UTC)';
const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Reads a point in time. Digits below a millisecond are cut off.
 *
 * Throws `invalid_input` for another form, for a time without an offset, for a date without a meaning such as
 * 2026-02-30, and for years outside 0001..9999.
 */
export function parseInstant(text: string, field: string): Date {
  const parts = ISO_8601.exec(text)?.groups;
  if (parts === undefined) throw refused(text, field, 'it is not a date in ISO 8601');
  if (parts.hour !== undefined && parts.zone === undefined) {
    throw refused(text, field, 'it has a time but no offset from UTC');
  }
  const date = utcDate(parts);
  if (date === null) throw refused(text, field, 'this date or time does not exist');
  const offset = offsetMilliseconds(parts.zone);
  if (offset === null) throw refused(text, field, 'its offset is beyond 23:59');
  const instant = date.getTime() - offset;
  if (instant < EARLIEST || instant > LATEST) {
    throw refused(text, field, 'it lies outside the years 0001 to 9999');
  }
  return new Date(instant);
}

type Parts = Readonly<Record<string, string | undefined>>;

/** The fields as if they were UTC, or null when the calendar has no such date or the clock no such time. */
function utcDate(parts: Parts): Date | null {
  const [year, month, day] = [Number(parts.year), Number(parts.month), Number(parts.day)];
  const [hour, minute, second] = [
    Number(parts.hour ?? 0),
    Number(parts.minute ?? 0),
    Number(parts.second ?? 0),
  ];
  const millisecond = Number((parts.fraction ?? '').padEnd(3, '0').slice(0, 3));
  if (hour > 23 || minute > 59 || second > 59) return null;
  const date = new Date(0);
  // Not Date.UTC: it reads the years 0..99 as 1900..1999.
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, millisecond);
  const rolledOver = date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day;
  return rolledOver ? null : date;
}

function offsetMilliseconds(zone: string | undefined): number | null {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4, 6))];
  if (hours > 23 || minutes > 59) return null;
  const milliseconds = (hours * 60 + minutes) * 60_000;
  return zone.startsWith('-') ? -milliseconds : milliseconds;
}

function refused(text: string, field: string, fault: string): PalimpsestError {
  return invalidInput(`${field}: ${fault}. Got ${excerpt(text)}; allowed: ${ALLOWED}.`, {
    path: field,
    got: excerpt(text),
    allowed: ALLOWED,
  });
}
