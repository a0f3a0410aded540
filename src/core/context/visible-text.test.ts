import { describe, expect, test } from 'vitest';
import { visibleLine, visibleText } from './visible-text.ts';

describe('visibleText', () => {
  test('leaves ordinary text alone, tabs and line feeds included', () => {
    const text = 'Grüße aus Köln,\n\n\t日本語 — “quoted” ½ €\u00a0100 \u{1f600}';
    expect(visibleText(text)).toBe(text);
  });

  test.each([
    ['CR LF', 'a\r\nb'],
    ['CR', 'a\rb'],
    ['vertical tab', 'a\vb'],
    ['form feed', 'a\fb'],
    ['NEL', 'a\u0085b'],
    ['line separator', 'a\u2028b'],
    ['paragraph separator', 'a\u2029b'],
  ])('%s becomes one line feed', (_name, text) => {
    expect(visibleText(text)).toBe('a\nb');
  });

  test('shows control characters instead of passing them to a terminal', () => {
    expect(visibleText('\x1b[31mred\x1b[0m\x07\b\0\x7f\x9b2J')).toBe('␛[31mred␛[0m␇␈␀␡\ufffd2J');
  });

  test.each([
    ['bidirectional override', '\u202e'],
    ['bidirectional isolate', '\u2066'],
    ['right-to-left mark', '\u200f'],
    ['zero-width space', '\u200b'],
    ['word joiner', '\u2060'],
    ['byte order mark', '\ufeff'],
    ['soft hyphen', '\u00ad'],
    ['invisible times', '\u2062'],
    ['Hangul filler', '\u3164'],
    ['tag letter', '\u{e0041}'],
    ['variation selector 200', '\u{e01b7}'],
    ['interlinear annotation', '\ufff9'],
    ['joiner between Latin letters', '\u200d'],
  ])('removes a %s', (_name, char) => {
    expect(visibleText(`pay${char}load`)).toBe('payload');
  });

  test.each([
    ['a family', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'],
    ['a firefighter with a skin tone', '\u{1f469}\u{1f3fd}\u200d\u{1f692}'],
    ['the rainbow flag', '\u{1f3f3}\ufe0f\u200d\u{1f308}'],
    ['a keycap', '1\ufe0f\u20e3'],
    ['Persian with a non-joiner', 'می\u200cخواهم'],
    ['Hindi with a joiner', 'क्\u200dष'],
  ])('keeps what %s is spelled with', (_name, text) => {
    expect(visibleText(text)).toBe(text);
  });

  test('does not keep a run of joiners, which nothing is spelled with', () => {
    expect(visibleText('خ\u200c\u200c\u200d\u200cخ')).toBe('خخ');
  });

  test('replaces half of a surrogate pair', () => {
    expect(visibleText('a\ud800b')).toBe('a\ufffdb');
  });

  test('is done after one pass', () => {
    const hostile = 'x\ufe0f\u200d\u{1f469}\r\u2028\u{1f468}\u200b\u200d\u{1f469}\x1b\ud800';
    expect(visibleText(visibleText(hostile))).toBe(visibleText(hostile));
  });
});

test('visibleLine has no line break and no tab', () => {
  expect(visibleLine('a\r\nb\tc\u2028d')).toBe('a b c d');
});
