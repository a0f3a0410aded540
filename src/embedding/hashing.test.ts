import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cosineSimilarity } from '../core/scoring/similarity.ts';
import { checkedProvider } from './checked.ts';
import { createHashingProvider } from './hashing.ts';

const provider = createHashingProvider();

async function vectorOf(text: string, dimensions?: number): Promise<Float32Array | null> {
  const [vector] = await createHashingProvider({ dimensions }).embed([text], 'document');
  return vector ?? null;
}

async function similarity(a: string, b: string): Promise<number> {
  const [x, y] = await provider.embed([a, b], 'document');
  return x && y ? cosineSimilarity(x, y) : Number.NaN;
}

/** The components other than 0, by place. */
function sparse(vector: Float32Array | null): [number, number][] {
  return [...(vector ?? [])].flatMap((component, index) => (component === 0 ? [] : [[index, component]]));
}

/** SHA-256 of the vector's bytes, little endian on every machine. */
function digest(vector: Float32Array | null): string {
  const bytes = new DataView(new ArrayBuffer((vector?.length ?? 0) * 4));
  vector?.forEach((component, index) => {
    bytes.setFloat32(index * 4, component, true);
  });
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

const MUSEUM_64 = [
  [11, expect.closeTo(-Math.SQRT1_2, 7)],
  [43, expect.closeTo(Math.SQRT1_2, 7)],
];

const PINNED: readonly (readonly [string, string])[] = [
  ['The quick brown fox jumps over the lazy dogs, 42 times.', '1070ba67c0580131'],
  ['to be or not to be', '6f7e06c2bd5cdb69'],
  ['foo_bar createdAt ann@example.com e-mail 3.14 1,000,000 C++', 'ae3043e148bba1f0'],
  ['Müller naïve Ångström ΟΔΟΣ Straße', 'bb03290fae9ccc77'],
  ['東京都に住んでいます。カメラ', '5130771368bd7b8a'],
  ['서울에서 왔어요', 'f2bc6a2cf69b0677'],
  ['ภาษาไทย', 'f883fe51361844db'],
  ['هذا كتاب جديد שָׁלוֹם', '6b3afc1ff699775a'],
  ['🎉 👍🏽 🇩🇪', '429308a5a9f73b17'],
  ['understanding internationalization understanding', 'e83c2d6defdf75f5'],
];

/**
 * Vectors of version 1, pinned. Stored vectors are compared with new ones for ever: where a change turns these red, it
 * needs a new ALGORITHM_VERSION, and the texts of stores that use the old one must be embedded again.
 */
describe('the pinned vectors of version 1', () => {
  it('of one word: its weight in two buckets, each with a sign', async () => {
    // Two components of the same magnitude at unit length: 1/√2.
    expect(await vectorOf('museum', 64).then(sparse)).toEqual(MUSEUM_64);
  });

  it.each(PINNED)('of %j', async (text, expected) => {
    expect(digest(await vectorOf(text))).toBe(expected);
  });

  it('carry the name of their version', () => {
    expect([provider.modelId, provider.dimensions]).toEqual(['hashing-512-v1', 512]);
    expect(createHashingProvider({ dimensions: 64 }).modelId).toBe('hashing-64-v1');
  });
});

describe('similarity is overlap of words', () => {
  it('is 1 for the same words in another order and case', async () => {
    expect(await similarity('The dog was running', 'RUNNING dog')).toBeCloseTo(1, 6);
  });

  it('is nearly 1 for the same words in another form, which weigh by their own length', async () => {
    // dog √.3, dogs √.4; running √.7, runs √.4: cosine of (.548, .837) and (.632, .632) is .983.
    expect(await similarity('running dog', 'dogs runs')).toBeCloseTo(0.983, 2);
  });

  it('is higher the more words are shared', async () => {
    const question = 'When did Caroline visit the museum in Lyon?';
    const both = await similarity(question, 'Caroline went to the museum yesterday');
    const one = await similarity(question, 'Caroline baked bread yesterday');
    const none = await similarity(question, 'Somebody baked bread yesterday');
    expect(both).toBeGreaterThan(one);
    expect(one).toBeGreaterThan(none);
    expect(none).toBeLessThan(0.15);
  });

  it('is about 0 for a paraphrase, and blind to meaning: the examples of docs/embeddings.md', async () => {
    expect(await similarity('My physician prescribed tablets', 'The doctor gave me pills')).toBeCloseTo(0, 3);
    expect(await similarity('Where does Ann work?', 'Ann works at the museum in Lyon')).toBeCloseTo(0.666, 3);
    expect(await similarity('Where does Ann work?', 'She is employed by a gallery')).toBeCloseTo(0, 3);
    expect(await similarity('I like tea', 'I do not like tea')).toBeCloseTo(Math.SQRT1_2, 3);
  });

  it('finds names, numbers and identifiers in other spellings', async () => {
    expect(await similarity('gpt4', 'We use GPT-4 now')).toBeGreaterThan(0.25);
    expect(await similarity('createdAt', 'the created_at column')).toBeGreaterThan(0.5);
    expect(await similarity('東京', '東京都に住んでいます')).toBeGreaterThan(0.2);
  });

  it('hears a repeated word less than as often as it stands there', async () => {
    // museum counts 1 + ln 10 = 3.30, train √(5/10) / √(6/10) of one museum: cosine to museum alone
    // is 3.30 / √(3.30² + 0.913²) = 0.964; with plain counts it would be 10 / √(10² + 0.913²) = 0.996.
    expect(await similarity('museum', `train ${'museum '.repeat(10)}`)).toBeCloseTo(0.964, 2);
  });
});

describe('stop words', () => {
  it('do not count beside other words', async () => {
    expect(await similarity('What is the museum for?', 'museum')).toBeCloseTo(1, 6);
  });

  it('count where there is nothing else', async () => {
    expect(await vectorOf('to be with you')).not.toBeNull();
    expect(await similarity('to be with you', 'you with be to')).toBeCloseTo(1, 6);
  });
});

describe('every text with a token has a vector', () => {
  it('even where two words meet in the same buckets with opposite signs', async () => {
    // Found by search: at 64 dimensions, these two words are each other's opposite.
    const [a, b] = await Promise.all([vectorOf('zhdb0', 64), vectorOf('zxdb0', 64)]);
    expect(sparse(a)).toEqual(sparse(b).map(([index, component]) => [index, -component]));
    const [index] = sparse(a).map(([place]) => place);
    const both = sparse(await vectorOf('zhdb0 zxdb0', 64));
    expect(both).toHaveLength(2);
    expect(both[0]).toEqual([index, expect.closeTo(Math.SQRT1_2, 6)]);
  });

  it('and every word two buckets, never one that it would empty itself', async () => {
    const words = Array.from({ length: 3000 }, (_, index) => `word${index}`);
    const vectors = await createHashingProvider({ dimensions: 64 }).embed(words, 'document');
    expect(vectors.filter((vector) => sparse(vector).length !== 2)).toEqual([]);
  });

  it.each(['', '   ', '?!… --- 。、', '\u200b\u2060', '\u0301'])('while %j has none', async (text) => {
    expect(await vectorOf(text)).toBeNull();
  });
});

describe('a vector depends on its text alone', () => {
  it('not on what was embedded before, beside it, or how much of it was remembered', async () => {
    const texts = ['The first text', 'understanding internationalisation', 'The first text'];
    const [first, long, again] = await provider.embed(texts, 'document');
    // More words than the provider remembers.
    const flood = Array.from({ length: 25_000 }, (_, index) => `w${index}`).join(' ');
    const [, firstAfter, longAfter] = await provider.embed([flood, ...texts], 'query');
    expect(again).toEqual(first);
    expect(firstAfter).toEqual(first);
    expect(longAfter).toEqual(long);
  });

  it('not on the form of its characters, whatever the text; it is null or of unit length', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 60 }), async (text) => {
        const forms = [text.normalize('NFC'), text.normalize('NFD'), text];
        // checkedProvider refuses anything that is neither null nor a sound vector.
        const [composed, decomposed, plain] = await checkedProvider(provider).embed(forms, 'document');
        expect(composed).toEqual(decomposed);
        const squares = plain?.reduce((sum, component) => sum + component * component, 0);
        if (squares !== undefined) expect(squares).toBeCloseTo(1, 5);
      }),
      { numRuns: 500 },
    );
  });
});

describe('hostile texts of 64 KiB', () => {
  it.each([
    ['one word', 'a'.repeat(65_536), true],
    ['one word the stemmer could choke on', 'y'.repeat(65_536), true],
    ['one joined word', 'a.'.repeat(32_768), true],
    ['changing case', 'aA'.repeat(32_768), true],
    ['marks on one letter', `a${'\u0301\u0316'.repeat(16_000)}`, true],
    ['marks alone', '\u0301'.repeat(32_768), false],
    ['ligatures of 18 characters', '\ufdfa'.repeat(21_845), true],
    ['a line of Han', '東京都港区'.repeat(4_369), true],
    ['emoji', '🎉👩‍🚀'.repeat(4_000), true],
    ['right to left with direction marks', '\u202eשלום עולם\u202c '.repeat(2_500), true],
    ['invisible characters', '\u200b\u200d\ufeff'.repeat(21_845), false],
    ['lone surrogates', '\ud800'.repeat(20_000), false],
    ['words between lone surrogates', 'word\udc00'.repeat(10_000), true],
    ['thousands', '1,000'.repeat(13_000), true],
    ['contractions', "n't".repeat(21_845), true],
    ['punctuation', '!'.repeat(65_536), false],
  ])('%s', async (_, text, hasVector) => {
    // 1 to 80 ms for each of the sixteen parts, so about a second. What takes quadratic time (0.7 s a part and more)
    // would take minutes for the whole, beyond the time limit of a test.
    const [vector] = await checkedProvider(provider).embed([text.repeat(16)], 'document');
    expect(vector !== null).toBe(hasVector);
  });
});

describe('a large batch', () => {
  const page = 'memory '.repeat(9_000);

  it('gives other work a turn', async () => {
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 0);
    await provider.embed(Array(40).fill(page), 'document');
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(0);
  });

  it('is given up when its signal is aborted', async () => {
    const controller = new AbortController();
    const embedding = provider.embed(Array(40).fill(page), 'document', { signal: controller.signal });
    const reason = new Error('client went away');
    controller.abort(reason);
    await expect(embedding).rejects.toBe(reason);
    await expect(provider.embed(['x'], 'query', { signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('dimensions', () => {
  it.each([64, 100, 512, 16_000])('%d are made', async (dimensions) => {
    expect(await vectorOf('museum', dimensions)).toHaveLength(dimensions);
  });

  it.each([0, 63, -512, 512.5, Number.NaN, 16_001])('%d are refused', (dimensions) => {
    expect(() => createHashingProvider({ dimensions })).toThrow(
      expect.objectContaining({
        code: 'invalid_config',
        message: expect.stringContaining(String(dimensions)),
      }),
    );
  });
});
