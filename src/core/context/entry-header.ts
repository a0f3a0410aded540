import { DEFAULT_LOCALE, DEFAULT_TIME_ZONE } from '../defaults.ts';
import { excerpt, PalimpsestError } from '../errors.ts';
import type { MemoryEntry } from '../types.ts';

/** The fields of an entry that the memory block shows. */
export type BlockEntry = Pick<
  MemoryEntry,
  'id' | 'namespace' | 'content' | 'status' | 'createdAt' | 'confirmedAt'
>;

/** Where and in which language the request's user lives. */
export interface RequestLocale {
  /** BCP 47 tag, such as `de-DE`. Default `en-US`, also for a language this runtime does not know. */
  readonly locale?: string | undefined;
  /** IANA name, such as `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string | undefined;
}

/** Writes a time as the day it falls on. */
export type DayFormat = (time: Date) => string;

/** How every header begins; nothing else in a block may begin so. */
export const HEADER_START = '--- MEMORY ENTRY (Stored on';

/** Locales write direction marks and narrow spaces into dates; a block holds neither. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const SPACE = /\s/gu;

/** What a namespace path cannot hold, and the invisible ones among its letters. */
const NOT_IN_A_PATH = /[^\p{L}\p{M}\p{N}_\-:@+~.]|\p{Default_Ignorable_Code_Point}/gu;

/**
 * A format for days, such as `1/19/2026`, in the request's language and zone.
 *
 * @throws PalimpsestError `invalid_input` for a locale or a time zone that does not exist
 */
export function dayFormat({
  locale = DEFAULT_LOCALE,
  timeZone = DEFAULT_TIME_ZONE,
}: RequestLocale): DayFormat {
  const format = dateTimeFormat(languages(locale), timeZone);
  return (time) => format.format(time).replace(INVISIBLE, '').replace(SPACE, ' ');
}

/** With the default named as well, an unknown language does not fall back to the one of the machine. */
function languages(locale: string): string[] {
  try {
    return [...Intl.getCanonicalLocales(locale), DEFAULT_LOCALE];
  } catch (cause) {
    throw refused('locale', locale, 'a language tag such as en-US or de-DE', cause);
  }
}

function dateTimeFormat(languages: readonly string[], timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(languages, {
      timeZone,
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
    });
  } catch (cause) {
    throw refused('time_zone', timeZone, 'an IANA time zone such as UTC or Europe/Berlin', cause);
  }
}

function refused(field: string, value: unknown, allowed: string, cause: unknown): PalimpsestError {
  return new PalimpsestError(
    'invalid_input',
    `${field}: ${excerpt(value)} is unknown. Allowed: ${allowed}.`,
    {
      details: [{ path: field, got: excerpt(value), allowed }],
      cause,
    },
  );
}

/**
 * The line above an entry's content. It tells the day of the first write, and of a confirmed entry that it is
 * one, with the day of the confirmation where that is another. Of the others it tells nothing: what stands in
 * nearly every header is soon read by nobody.
 */
export function entryHeader(entry: BlockEntry, day: DayFormat): string {
  const facts = [
    `${HEADER_START} ${day(entry.createdAt)}`,
    ...confirmation(entry, day),
    `Namespace: ${entry.namespace.replace(NOT_IN_A_PATH, codePoint)}) ---`,
  ];
  return facts.join(', ');
}

function confirmation({ status, createdAt, confirmedAt }: BlockEntry, day: DayFormat): string[] {
  if (status !== 'confirmed') return [];
  const on = confirmedAt === null || day(confirmedAt) === day(createdAt) ? '' : ` on ${day(confirmedAt)}`;
  return [`confirmed by the user${on}`];
}

/** The store keeps such characters out of a path; should one get in, it can close no header. */
function codePoint(char: string): string {
  return `\\u{${char.codePointAt(0)?.toString(16)}}`;
}
