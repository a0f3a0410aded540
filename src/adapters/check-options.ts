import { unknownField } from '../contract/unknown-field.ts';
import { invalidInput } from '../core/errors.ts';

/** A misspelt option would be lost in silence. @throws PalimpsestError `invalid_input` for one that is not known */
export function checkOptions(options: object, known: Readonly<Record<string, null>>): void {
  const names = Object.keys(known);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const { message, detail } = unknownField(unknown, unknown, names);
  throw invalidInput(message, detail);
}
