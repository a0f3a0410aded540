import { excerpt, PalimpsestError } from '../core/errors.ts';
import { nearestName } from '../core/nearest-name.ts';

/** A value with the name it was set under, for errors. */
export interface Setting {
  readonly value: string | undefined;
  readonly name: string;
}

/** Reads settings by the names of their variables. */
export type Settings<Name extends string> = (name: Name) => Setting;

export function oneOf<Word extends string>(
  words: readonly Word[],
  { value, name }: Setting,
): Word | undefined {
  if (value === undefined) return undefined;
  const word = words.find((known) => known === value);
  if (word !== undefined) return word;
  const nearest = nearestName(value, words);
  throw invalidConfig(
    `${name} is ${excerpt(value)}; allowed: ${words.join(', ')}.`,
    value,
    [...words],
    nearest === null ? undefined : `Did you mean ${nearest}?`,
  );
}

/** The parts of a list that is written with commas, without spaces and empty ones. */
export function listOf({ value }: Setting): string[] {
  return (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function invalidConfig(
  message: string,
  got: string,
  allowed: string | string[],
  hint: string | undefined,
): PalimpsestError {
  return new PalimpsestError('invalid_config', hint === undefined ? message : `${message} ${hint}`, {
    details: [{ got, allowed, hint }],
  });
}
