import { describe, expect, test } from 'vitest';
import {
  conflict,
  ERROR_CODES,
  excerpt,
  invalidInput,
  notFound,
  PalimpsestError,
  reasonOf,
} from './errors.ts';

describe('PalimpsestError', () => {
  test('carries its code, its details and its cause', () => {
    const cause = new Error('underneath');
    const error = new PalimpsestError('store_unavailable', 'no database', {
      details: [{ path: 'a' }],
      cause,
    });
    expect(error).toMatchObject({
      code: 'store_unavailable',
      message: 'no database',
      details: [{ path: 'a' }],
      cause,
    });
    expect(new PalimpsestError('internal', 'x')).not.toHaveProperty('cause');
  });

  test('is recognised across two copies of the package, and nothing else is', () => {
    const fromAnotherCopy = Object.assign(new Error('x'), {
      name: 'PalimpsestError',
      code: 'internal',
      details: [],
    });
    expect(PalimpsestError.isInstance(fromAnotherCopy)).toBe(true);
    expect(PalimpsestError.isInstance(new Error('x'))).toBe(false);
    expect(PalimpsestError.isInstance({ name: 'PalimpsestError', code: 'internal', details: [] })).toBe(
      false,
    );
    expect(PalimpsestError.isInstance(undefined)).toBe(false);
  });

  test.each([
    { error: invalidInput('x', { path: 'a' }), code: 'invalid_input', status: 400 },
    { error: notFound('memory entry', 'm1'), code: 'not_found', status: 404 },
    { error: conflict('x'), code: 'conflict', status: 409 },
  ])('$code has status $status', ({ error, code, status }) => {
    expect(error.code).toBe(code);
    expect(ERROR_CODES[error.code].status).toBe(status);
  });
});

describe('excerpt', () => {
  test.each([
    { value: 'short', shown: '"short"' },
    { value: 'x'.repeat(80), shown: `"${'x'.repeat(80)}"` },
    { value: 'x'.repeat(81), shown: `"${'x'.repeat(80)}…"` },
    { value: '😀'.repeat(81), shown: `"${'😀'.repeat(80)}…"` },
    { value: 0, shown: '0' },
    { value: Number.NaN, shown: 'NaN' },
    { value: false, shown: 'false' },
    { value: null, shown: 'null' },
    { value: undefined, shown: 'undefined' },
    { value: [1], shown: 'a list' },
    { value: { a: 1 }, shown: 'an object' },
    { value: () => 1, shown: 'function' },
  ])('shows $shown', ({ value, shown }) => {
    expect(excerpt(value)).toBe(shown);
  });

  test('makes control characters and broken surrogates visible', () => {
    expect(excerpt('a\u0000\n\u001b[31m\ud800')).toBe('"a\\u0000\\n\\u001b[31m\\ud800"');
  });
});

test.each([
  ['an error', new Error('gone'), 'gone'],
  ['several, of which the first', new AggregateError([new Error('first'), new Error('second')]), 'first'],
  ['what is no error', 'a word', 'a word'],
  ['nothing', undefined, 'undefined'],
])('the reason of %s', (_, thrown, reason) => {
  expect(reasonOf(thrown)).toBe(reason);
});
