/** Order of two texts by UTF-16 code unit: the same on every machine, whatever its locale. */
export function compareCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * Order of two texts by code point, which is the order of their UTF-8 bytes and of PostgreSQL's `"C"`
 * collation. JavaScript's own `<` differs where one text has a surrogate and the other U+E000..U+FFFF.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left !== right) return orderKey(left) - orderKey(right);
  }
  return a.length - b.length;
}

/** Moves surrogates, which stand for U+10000 and above, behind all other code units. */
function orderKey(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
