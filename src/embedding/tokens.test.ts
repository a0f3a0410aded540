import { describe, expect, it } from 'vitest';
import { chunksOf, tokensOfChunk } from './tokens.ts';

/** Tokens of a text in order; stop words are marked with `*`. */
function tokens(text: string): string[] {
  return chunksOf(text)
    .flatMap(tokensOfChunk)
    .map(({ text: token, isStopWord }) => (isStopWord ? `${token}*` : token));
}

const weights = (text: string) =>
  chunksOf(text)
    .flatMap(tokensOfChunk)
    .map(({ weight }) => weight);

describe('words', () => {
  it('are lower case stems, stop words marked', () => {
    expect(tokens('She was RUNNING with her dogs.')).toEqual(['she*', 'wa*', 'run', 'with*', 'her*', 'dog']);
  });

  it('lose possessives and contracted verbs, and keep a contracted not as one stop word', () => {
    expect(tokens("Ann's dog; we've, I'm, don’t")).toEqual(['ann', 'dog', 'we*', 'i*', 'dont*']);
  });

  it('keep digits, thousands in one piece', () => {
    expect(tokens('Room 42 costs 1,250,000 or 7,5')).toEqual([
      'room',
      '42',
      'cost',
      '1250000',
      'or*',
      '7',
      '5',
    ]);
  });

  it('are not stemmed when they are too long to be words', () => {
    expect(tokens('running'.repeat(6))).toEqual(['running'.repeat(6)]);
    expect(tokens(`${'a'.repeat(33)}running`)).toEqual([`${'a'.repeat(33)}run`]);
  });

  it('weigh by the root of their length, up to ten letters', () => {
    // √(4/10), √(10/10), √(13/10) taken as 1. Length is measured before stemming.
    expect(weights('sofa strawberry understanding')).toEqual([Math.sqrt(0.4), 1, 1]);
  });
});

describe('joined words give their parts and one joined form', () => {
  it.each([
    ['foo_bar', ['foo', 'bar', 'foobar']],
    ['e-mail', ['e', 'mail', 'email']],
    ['createdAt', ['creat', 'at*', 'createdat']],
    ['ann@example.com', ['ann', 'exampl', 'com', 'annexamplecom']],
    ['gpt-4', ['gpt', '4', 'gpt4']],
    ["O'Brien", ['o', 'brien', 'obrien']],
    ['3.14', ['3', '14', '3.14']],
    ['10:30', ['10', '30', '10:30']],
    ['2024-05-01', ['2024', '05', '01', '20240501']],
    ['to-do', ['to*', 'do*', 'todo']],
  ])('%s', (text, expected) => {
    expect(tokens(text)).toEqual(expected);
  });

  it('the joined form at half its weight', () => {
    // foo and bar: √(3/10); foobar: ½ √(6/10).
    expect(weights('foo_bar')).toEqual([Math.sqrt(0.3), Math.sqrt(0.3), 0.5 * Math.sqrt(0.6)]);
  });
});

describe('single letters with a sign', () => {
  it('are languages and notes of their own', () => {
    expect(tokens('C, C++ and c#')).toEqual(['c', 'c++', 'and*', 'c#']);
    expect(tokens('abc++ c#d')).toEqual(['abc', 'c', 'd']);
  });
});

describe('scripts without spaces', () => {
  it('give pairs of characters, and characters that mean something alone', () => {
    expect(tokens('東京都')).toEqual(['東京', '東', '京都', '京', '都']);
    expect(tokens('서울에서')).toEqual(['서울', '서', '울에', '울', '에서', '에', '서']);
    expect(tokens('カメラ')).toEqual(['カメ', 'メラ']);
    expect(tokens('ไทย')).toEqual(['ไท', 'ทย']);
    expect(tokens('を')).toEqual(['を']);
  });

  it('are cut from words of other scripts beside them', () => {
    expect(tokens('東京tower2')).toEqual(['東京', '東', '京', 'tower2']);
  });
});

describe('texts that read the same give the same tokens', () => {
  it.each([
    ['composed and decomposed accents', 'Café Ångström', 'Cafe\u0301 A\u030angstro\u0308m'],
    ['accents left out', 'Müller naïve Łódź', 'Muller naive Lodz'],
    ['sharp s', 'Straße', 'STRASSE'],
    ['Greek capitals, accents and final sigma', 'οδός', 'ΟΔΟΣ'],
    ['full width', 'ＡＢＣ１２３', 'abc123'],
    ['ligatures', 'ﬁnal', 'final'],
    ['half-width kana', 'ｶﾒﾗ', 'カメラ'],
    ['zero-width characters and soft hyphens', 'pass\u200bwo\u200drd\u00ad \ufeffkey', 'password key'],
    ['direction marks', '\u202eabc\u202c \u200fשלום', 'abc שלום'],
    ['Hebrew points', 'שָׁלוֹם', 'שלום'],
    ['Arabic vowel signs', 'مُحَمَّد', 'محمد'],
    ['typographic apostrophes', 'we’ve O’Brien', "we've O'Brien"],
    ['a trademark sign', 'Acme™', 'Acme'],
    ['emoji skin tones and variants', '👍🏽 ❤️', '👍 ❤'],
    ['keycaps', '1️⃣', '1'],
  ])('%s', (_, a, b) => {
    expect(tokens(a).length).toBeGreaterThan(0);
    expect(tokens(a)).toEqual(tokens(b));
  });

  it('but marks that are half a letter stay', () => {
    expect(tokens('が')).not.toEqual(tokens('か'));
    expect(tokens('йод')).not.toEqual(tokens('иод'));
    expect(tokens('कि')).not.toEqual(tokens('की'));
  });
});

describe('emoji', () => {
  it('are tokens, flags as a pair', () => {
    expect(tokens('🎉party🇩🇪👩‍🚀')).toEqual(['🎉', 'parti', '🇩🇪', '👩', '🚀']);
  });
});

describe('texts without tokens', () => {
  it.each(['', ' \n\t', '… --- !?', '\u200b\u200d', '\u0301\u0301', '\udc00\ud800', '\ud800'])(
    '%j',
    (text) => {
      expect(tokens(text)).toEqual([]);
    },
  );
});
