import { STEERING } from '../../core/json-text.ts';

/** A stored text as a terminal may show it: what would steer the terminal stands as its code point. */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\t/g, '    ').replace(STEERING, codePointOf);
}

/** The same on one line, cut after `length` code points. */
export function printableLine(text: string, length: number): string {
  const line = printable(text).replace(/\s+/g, ' ').trim();
  const points = [...line.slice(0, 2 * length + 2)];
  return points.length > length ? `${points.slice(0, length - 1).join('')}…` : line;
}

function codePointOf(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
}
