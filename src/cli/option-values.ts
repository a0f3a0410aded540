import { InvalidArgumentError } from 'commander';

/** Readers of option values, for commander: each returns the value or says what is wrong with the text. */

/** A decimal number. `Number` alone would take an empty text for 0 and `0x10` for 16. */
export function numberOption(text: string): number {
  if (/^[+-]?(\d+(\.\d*)?|\.\d+)$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number such as 5 or 0.4.');
}

/** A JSON object. */
export function jsonObjectOption(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new InvalidArgumentError('It must be a JSON object such as \'{"project":"atlas"}\'.');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InvalidArgumentError(`It is not JSON: ${error.message}.`);
  }
}

/** An option that may be given several times. */
export function repeated(text: string, earlier: readonly string[] | undefined): string[] {
  return [...(earlier ?? []), text];
}

/** `kind` or `kind:ref`, such as `chat:4711`. */
export function sourceOption(text: string): { kind: string; ref?: string } {
  const [kind = '', ...ref] = text.split(':');
  return ref.length === 0 ? { kind } : { kind, ref: ref.join(':') };
}
