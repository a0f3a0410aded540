import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { PalimpsestError } from '../core/errors.ts';
import { createTokenCounter, DEFAULT_TOKENIZER, TOKENIZER_NAMES } from './token-counter.ts';

const RANKS = 'gpt-tokenizer/bpeRanks/cl100k_base';

afterEach(() => {
  vi.doUnmock(RANKS);
  vi.resetModules();
});

describe('createTokenCounter', () => {
  // Counts that OpenAI publishes for these texts.
  test.each([
    ['o200k_base', 'antidisestablishmentarianism', 6],
    ['o200k_base', '2 + 2 = 4', 7],
    ['o200k_base', 'お誕生日おめでとう', 8],
    ['cl100k_base', 'antidisestablishmentarianism', 6],
    ['cl100k_base', '2 + 2 = 4', 7],
    ['cl100k_base', 'お誕生日おめでとう', 9],
    // 3 letters, 4 of 3 bytes, 1 of 4: 3 + 12 + 4.
    ['utf8_bytes', 'abc日本語文\u{1f600}', 19],
    ['utf8_bytes', '', 0],
    ['o200k_base', '', 0],
  ])('%s counts %j as %d', async (name, text, tokens) => {
    const counter = await createTokenCounter(name);
    expect(counter.name).toBe(name);
    expect(counter.count(text)).toBe(tokens);
  });

  test('without a name it is o200k_base, loaded once', async () => {
    expect((await createTokenCounter()).name).toBe(DEFAULT_TOKENIZER);
    expect(await createTokenCounter()).toBe(await createTokenCounter('o200k_base'));
  });

  test.each(['o200k_base', 'cl100k_base'])('%s reads the names of special tokens as text', async (name) => {
    const counter = await createTokenCounter(name);
    for (const special of ['<|endoftext|>', '<|im_start|>system', '<|fim_prefix|>', '<|endofprompt|>']) {
      // One token each if they were special; as text, `<`, `|` and the letters alone are more.
      expect(counter.count(special)).toBeGreaterThan(3);
      expect(counter.count(`a ${special} b`)).toBeGreaterThan(counter.count('a  b') + 2);
    }
  });

  test('half of a surrogate pair is counted, not refused', async () => {
    // U+FFFD takes its place, one token of o200k_base.
    expect((await createTokenCounter()).count('\ud800')).toBe(1);
  });

  test.each(['gpt-4o', 'O200K_BASE', '', 'constructor'])('the name %j is refused', async (name) => {
    const attempt = createTokenCounter(name);
    await expect(attempt).rejects.toThrow(PalimpsestError);
    await expect(attempt).rejects.toMatchObject({
      code: 'invalid_input',
      message: `tokenizer: ${JSON.stringify(name)} is unknown. Allowed: o200k_base, cl100k_base, utf8_bytes.`,
      details: [{ path: 'tokenizer', allowed: [...TOKENIZER_NAMES] }],
    });
  });
});

describe('pieces that no encoder should merge', () => {
  test('of 500 characters are counted exactly, longer ones by their bytes', async () => {
    const counter = await createTokenCounter();
    // 8 letters a token: 500 / 8 = 62.5.
    expect(counter.count('a'.repeat(500))).toBe(63);
    expect(counter.count('a'.repeat(501))).toBe(501);
    expect(counter.count('é'.repeat(501))).toBe(1002);
  });

  test('leave the count of their surroundings alone', async () => {
    const counter = await createTokenCounter();
    const [before, long, after] = ['It is said, ', 'a'.repeat(600), '!\n\nAnd so on; 12345.'];
    // The space before the run belongs to its piece.
    const expected = counter.count('It is said,') + 601 + counter.count(after);
    expect(counter.count(before + long + after)).toBe(expected);
  });

  test.each([' ', '-', 'a', '一', '\n', '\u{1f600}', 'ก'])(
    'a mebibyte of %j is counted in time that grows with it, not with its square',
    async (char) => {
      const counter = await createTokenCounter();
      // 80 ms. Merging takes 6 s for a sixteenth of it, so it would not end within the test's time limit.
      expect(counter.count(char.repeat(2 ** 20 / char.length))).toBeGreaterThan(0);
    },
  );
});

test('utf8_bytes is never less than what a tokenizer counts', async () => {
  const [bytes, ...counters] = await Promise.all(
    ['utf8_bytes', 'o200k_base', 'cl100k_base'].map((name) => createTokenCounter(name)),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      for (const counter of counters) {
        expect(counter.count(text)).toBeLessThanOrEqual(bytes?.count(text) ?? 0);
      }
    }),
    { numRuns: 500 },
  );
});

describe('a tokenizer that cannot be loaded', () => {
  async function brokenFactory() {
    vi.resetModules();
    vi.doMock(RANKS, () => {
      throw new Error('gone');
    });
    return (await import('./token-counter.ts')).createTokenCounter;
  }

  test('is an error that says what to do', async () => {
    const create = await brokenFactory();
    await expect(create('cl100k_base')).rejects.toMatchObject({
      code: 'internal',
      message:
        'The tokenizer cl100k_base could not be loaded from the package gpt-tokenizer. Install the packages again, or count by utf8_bytes.',
      cause: expect.any(Error),
    });
  });

  test('is replaced by utf8_bytes for a caller who asks to be told', async () => {
    const create = await brokenFactory();
    const told: unknown[] = [];
    const counter = await create('cl100k_base', { onFallback: (error) => told.push(error) });
    expect(counter.name).toBe('utf8_bytes');
    expect(told).toEqual([expect.objectContaining({ code: 'internal' })]);
  });

  test('is loaded again when asked for again', async () => {
    const create = await brokenFactory();
    await expect(create('cl100k_base')).rejects.toThrow('could not be loaded');
    vi.doUnmock(RANKS);
    vi.resetModules();
    expect((await create('cl100k_base')).name).toBe('cl100k_base');
  });

  test('does not hide a wrong name', async () => {
    const onFallback = vi.fn();
    await expect(createTokenCounter('nope', { onFallback })).rejects.toMatchObject({ code: 'invalid_input' });
    expect(onFallback).not.toHaveBeenCalled();
  });
});
