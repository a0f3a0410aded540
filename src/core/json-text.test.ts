import { expect, test } from 'vitest';
import { jsonText } from './json-text.ts';

test('it is the same JSON, with the dangerous characters escaped', () => {
  const value = { 'k\u202e': 'a\u009b\u001b\u007f\u2028\u{e0041}b\n日本' };
  const text = jsonText(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).toBe('{"k\\u202e":"a\\u009b\\u001b\\u007f\\u2028\\udb40\\udc41b\\n日本"}');
  expect(jsonText({ a: [1] }, 2)).toBe('{\n  "a": [\n    1\n  ]\n}');
});
