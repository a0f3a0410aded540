/**
 * Characters that steer a terminal or reorder what it shows: controls (every escape sequence starts with one;
 * the line feed is kept), direction marks and overrides, line separators, invisible formatting, tag characters.
 */
const STEERING =
  /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

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

/**
 * JSON text that is safe on a terminal: JSON itself lets C1 controls and direction marks through, and escaped
 * they mean the same.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(STEERING, escapeUnits);
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
