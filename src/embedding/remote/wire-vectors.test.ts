import { describe, expect, test } from 'vitest';
import { answeredList, wireVector } from './wire-vectors.ts';

const base64 = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString('base64');

describe('a vector as services send it', () => {
  test('a list of numbers and base64 are the same vector', () => {
    expect(wireVector([0.5, -2, 0], 0)).toEqual(Float32Array.of(0.5, -2, 0));
    expect(wireVector(base64(0.5, -2, 0), 0)).toEqual(Float32Array.of(0.5, -2, 0));
  });

  test('base64 of 1.0 is the four bytes 00 00 80 3f, lowest first', () => {
    expect(wireVector('AACAPw==', 0)).toEqual(Float32Array.of(1));
  });

  test.each([
    ['an object', { values: [1] }],
    ['nothing', undefined],
    ['null in a list, which a typed array takes for 0', [1, null]],
    ['a digit as text, which a typed array takes for a number', ['1']],
    ['an empty text', ''],
    ['three bytes', 'AAAA'],
    ['letters that are not base64, which Buffer skips', 'AACAPw==!!!!'],
  ])('%s is refused with the place of the text', (_, value) => {
    expect(() => wireVector(value, 3)).toThrow(
      expect.objectContaining({ code: 'embedding_failed', message: expect.stringContaining('text 3') }),
    );
  });
});

describe('the list in an answer', () => {
  test('is found by its name', () => {
    expect(answeredList({ data: [1] }, 'data')).toEqual([1]);
  });

  test.each([[null], ['text'], [[1]], [{}], [{ data: { 0: 1 } }]])('%j has none', (answer) => {
    expect(() => answeredList(answer, 'data')).toThrow(/sent no list "data"/);
  });
});
