import { excerpt, PalimpsestError } from '../core/errors.ts';

/** @throws PalimpsestError `invalid_config` for anything but a whole number of the range */
export function wholeNumber(
  name: string,
  value: unknown,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `, ${min} or more` : ` from ${min} to ${max}`;
  throw invalidOption(name, excerpt(value), `a whole number${range}`);
}

/** @throws PalimpsestError `invalid_config` for anything but one of the words */
export function oneOf<Word extends string>(name: string, value: unknown, words: readonly Word[]): Word {
  const word = words.find((known) => known === value);
  if (word !== undefined) return word;
  throw invalidOption(name, excerpt(value), words.join(', '));
}

export function invalidOption(name: string, got: string, allowed: string): PalimpsestError {
  return new PalimpsestError(
    'invalid_config',
    `The embedding option ${name} is ${got}; allowed: ${allowed}.`,
    {
      details: [{ path: `embedding.${name}`, got, allowed }],
    },
  );
}
