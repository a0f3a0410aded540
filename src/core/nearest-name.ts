/**
 * The known name closest to a misspelt one, for "did you mean" hints; null when nothing is close enough to be
 * meant. Letter case and the separators `-` and `_` do not count as differences.
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  const wanted = comparable(name);
  let nearest: string | null = null;
  let fewestEdits = Math.floor(wanted.length / 3) + 1;
  for (const candidate of known) {
    const edits = editDistance(wanted, comparable(candidate), fewestEdits);
    if (edits < fewestEdits) {
      nearest = candidate;
      fewestEdits = edits;
    }
  }
  return nearest;
}

/** Longer text is never a misspelt name; comparing it would only cost time. */
const LONGEST_NAME = 64;

function comparable(name: string): string {
  return name.slice(0, LONGEST_NAME).toLowerCase().replace(/[-_]/g, '');
}

/**
 * Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours. Stops
 * counting at `limit`.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = a[row - 1] === b[column - 1] ? 0 : 1;
      let edits = Math.min(
        cell(previous, column) + 1,
        cell(current, column - 1) + 1,
        cell(previous, column - 1) + substitution,
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) edits = Math.min(edits, cell(beforePrevious, column - 2) + 1);
      current.push(edits);
    }
    beforePrevious = previous;
    previous = current;
  }
  return Math.min(limit, cell(previous, b.length));
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
