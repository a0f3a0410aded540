import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { jsonObjectOption, numberOption, repeated, sourceOption } from './option-values.ts';

test.each([
  ['5', 5],
  ['0', 0],
  ['-0.5', -0.5],
  ['+.25', 0.25],
  ['1.', 1],
])('%s is the number %d', (text, number) => {
  expect(numberOption(text)).toBe(number);
});

test.each(['', ' ', '0x10', '1e3', 'NaN', 'Infinity', '5 ', '1,5', 'five'])('%j is no number', (text) => {
  expect(() => numberOption(text)).toThrow(InvalidArgumentError);
});

test('an object must be a JSON object', () => {
  expect(jsonObjectOption('{"a":[1]}')).toEqual({ a: [1] });
  for (const text of ['', '{', '[]', 'null', '5']) {
    expect(() => jsonObjectOption(text)).toThrow(InvalidArgumentError);
  }
});

test('a repeated option collects, and a source keeps the colons of its ref', () => {
  expect(repeated('b', repeated('a', undefined))).toEqual(['a', 'b']);
  expect(sourceOption('chat')).toEqual({ kind: 'chat' });
  expect(sourceOption('file:C:\\notes.txt')).toEqual({ kind: 'file', ref: 'C:\\notes.txt' });
});
