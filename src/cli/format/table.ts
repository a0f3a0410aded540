import Table from 'cli-table3';

export interface Column {
  readonly head: string;
  readonly align?: 'left' | 'right' | undefined;
}

/** Room that borders and padding take of a line, per column, and once more at the end. */
const COLUMN_OVERHEAD = 3;

/**
 * A table no wider than a line. The last column takes what the others leave, and wraps.
 *
 * @param rows - Cells that are printable already.
 */
export function textTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string {
  const natural = columns.slice(0, -1).map(({ head }, index) => {
    return Math.max(head.length, ...rows.map((row) => longestLine(row[index] ?? '')));
  });
  const taken = natural.reduce((sum, column) => sum + column + COLUMN_OVERHEAD, 1);
  const last = Math.max(24, width - taken - 1);
  const table = new Table({
    head: columns.map(({ head }) => head),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    colWidths: [...natural.map((column) => column + 2), last],
    wordWrap: true,
    // A long word would otherwise push the border out.
    wrapOnWordBoundary: false,
    style: { head: [], border: [] },
  });
  table.push(...rows.map((row) => [...row]));
  return `${table.toString()}\n`;
}

function longestLine(cell: string): number {
  return Math.max(...cell.split('\n').map((line) => line.length));
}
