import Table from 'cli-table3';

export interface Column {
  readonly head: string;
  readonly align?: 'left' | 'right' | undefined;
}

/** Room that borders and padding take of a line, per column, and once more at the end. */
const COLUMN_OVERHEAD = 3;

/** Narrowest useful last column. */
const MIN_LAST_WIDTH = 24;
/** Lines between rows, left out of a compact table. */
const NO_ROW_LINES = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' };

export interface TableOptions {
  /** Characters in a line. */
  readonly width: number;
  /** Whether rows follow each other without a line between them. Default false. */
  readonly isCompact?: boolean | undefined;
}

/**
 * A table no wider than a line. The last column takes what the others leave, and wraps.
 *
 * @param rows - Cells that are printable already.
 */
export function textTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width, isCompact = false }: TableOptions,
): string {
  const natural = columns.slice(0, -1).map(({ head }, index) => {
    return Math.max(head.length, ...rows.map((row) => longestLine(row[index] ?? '')));
  });
  const taken = natural.reduce((sum, column) => sum + column + COLUMN_OVERHEAD, COLUMN_OVERHEAD + 1);
  const last = Math.max(MIN_LAST_WIDTH, width - taken);
  const table = new Table({
    head: columns.map(({ head }) => head),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    colWidths: [...natural, last].map((column) => column + 2),
    wordWrap: true,
    style: { head: [], border: [] },
    ...(isCompact ? { chars: NO_ROW_LINES } : {}),
  });
  table.push(
    ...rows.map((row) => row.map((cell, index) => (index < natural.length ? cell : broken(cell, last)))),
  );
  return `${table.toString()}\n`;
}

/** Breaks words longer than a line, which the table would cut off. A wide character takes two places. */
function broken(cell: string, width: number): string {
  return cell.replace(/\S+/gu, (word) => {
    const length = WIDE.test(word) ? Math.floor(width / 2) : width;
    return word.replace(new RegExp(`.{${length}}(?=.)`, 'gu'), '$&\n');
  });
}

/** Characters that terminals write two places wide. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

function longestLine(cell: string): number {
  return Math.max(...cell.split('\n').map((line) => line.length));
}
