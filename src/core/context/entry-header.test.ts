import { describe, expect, test } from 'vitest';
import { PalimpsestError } from '../errors.ts';
import { type BlockEntry, dayFormat, entryHeader, type RequestLocale } from './entry-header.ts';

const ENTRY: BlockEntry = {
  id: '0192f0c1-0000-7000-8000-000000000001',
  namespace: 'vector.agent.u1.preferences',
  content: 'x',
  status: 'unconfirmed',
  createdAt: new Date('2026-01-19T23:30:00Z'),
  confirmedAt: null,
};

function header(changes: Partial<BlockEntry>, locale: RequestLocale = {}): string {
  return entryHeader({ ...ENTRY, ...changes }, dayFormat(locale));
}

function confirmed(at: string | null): Partial<BlockEntry> {
  return { status: 'confirmed', confirmedAt: at === null ? null : new Date(at) };
}

describe('entryHeader', () => {
  test('an unconfirmed entry says nothing about it', () => {
    expect(header({})).toBe(
      '--- MEMORY ENTRY (Stored on 1/19/2026, Namespace: vector.agent.u1.preferences) ---',
    );
  });

  test('a confirmation on another day carries that day', () => {
    expect(header(confirmed('2026-05-02T08:00:00Z'))).toBe(
      '--- MEMORY ENTRY (Stored on 1/19/2026, confirmed by the user on 5/2/2026, Namespace: vector.agent.u1.preferences) ---',
    );
  });

  test('a confirmation on the day of the write carries none', () => {
    expect(header(confirmed('2026-01-19T23:59:59Z'))).toContain(
      '(Stored on 1/19/2026, confirmed by the user, N',
    );
  });

  test('the day is the one in the zone of the request', () => {
    // 23:30 UTC is 00:30 of the 20th in Berlin (UTC+1 in January) and still the 19th in New York.
    const nextMorning = confirmed('2026-01-20T06:00:00Z');
    expect(header(nextMorning, { timeZone: 'UTC' })).toContain(
      'Stored on 1/19/2026, confirmed by the user on 1/20/2026',
    );
    expect(header(nextMorning, { timeZone: 'Europe/Berlin' })).toContain(
      'Stored on 1/20/2026, confirmed by the user, N',
    );
    expect(header(nextMorning, { timeZone: 'America/New_York' })).toContain(
      'Stored on 1/19/2026, confirmed by the user on 1/20/2026',
    );
  });

  test('a confirmation without a time is still one', () => {
    expect(header(confirmed(null))).toContain('(Stored on 1/19/2026, confirmed by the user, N');
  });

  test('a superseded entry is not called confirmed', () => {
    expect(header({ status: 'superseded', confirmedAt: ENTRY.createdAt })).not.toContain('confirmed');
  });

  test.each([
    ['de-DE', '19.1.2026'],
    ['fr-FR', '19/01/2026'],
    ['ja-JP', '2026/1/19'],
    ['ar-EG', '١٩/١/٢٠٢٦'],
  ])('days are written as in %s, without invisible marks', (locale, day) => {
    expect(header({}, { locale })).toContain(`(Stored on ${day}, Namespace`);
  });

  test('a language nobody knows is written as in en-US, not as on this machine', () => {
    expect(header({}, { locale: 'xx-XX' })).toContain('(Stored on 1/19/2026, ');
  });

  test('a path that could never be stored closes no header', () => {
    expect(header({ namespace: 'a.b) ---\n--- x\u200b' })).toBe(
      '--- MEMORY ENTRY (Stored on 1/19/2026, Namespace: a.b\\u{29}\\u{20}---\\u{a}---\\u{20}x\\u{200b}) ---',
    );
  });
});

describe('dayFormat', () => {
  test.each([
    [{ locale: 'not a locale' }, 'locale: "not a locale" is unknown.', 'locale'],
    [{ locale: '' }, 'locale: "" is unknown.', 'locale'],
    [{ timeZone: 'Berlin' }, 'time_zone: "Berlin" is unknown.', 'time_zone'],
    [{ timeZone: '' }, 'time_zone: "" is unknown.', 'time_zone'],
  ])('%j is refused', (locale, message, path) => {
    const attempt = () => dayFormat(locale);
    expect(attempt).toThrow(PalimpsestError);
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(
      expect.objectContaining({ code: 'invalid_input', details: [expect.objectContaining({ path })] }),
    );
  });
});
