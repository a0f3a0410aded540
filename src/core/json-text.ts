/**
 * Characters that steer a terminal or reorder what it shows: controls (every escape sequence starts with one;
 * the line feed is kept), direction marks and overrides, line separators, invisible formatting, tag characters.
 */
export const STEERING =
  /(?!\n)[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * JSON text that is safe wherever it is shown: JSON itself lets C1 controls and direction marks through, and
 * escaped they mean the same.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(STEERING, escapeUnits);
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
