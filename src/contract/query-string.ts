import { excerpt, invalidInput } from '../core/errors.ts';

/** A query string has texts only; these read other values out of them, strictly. */

/**
 * Reads a whole number: digits alone, so that neither `-1`, `abc`, `1e9`, `1.5` nor an empty text becomes a
 * number that nobody meant.
 */
export function wholeNumber(text: string, field: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalidInput(`${field}: ${excerpt(text)} is not a whole number.`, {
    path: field,
    got: excerpt(text),
    allowed: 'digits',
  });
}

/** Reads JSON text. */
export function jsonText(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidInput(`${field}: this is not JSON: ${error.message}.`, {
      path: field,
      got: excerpt(text),
      allowed: 'a JSON object, percent-encoded',
    });
  }
}
