import { expect, test } from 'vitest';
import { textTable } from './table.ts';

const COLUMNS = [{ head: '#', align: 'right' as const }, { head: 'text' }];
const linesOf = (table: string) => table.trimEnd().split('\n');

test('the last column takes what the line has left', () => {
  for (const width of [40, 80, 120]) {
    const widths = new Set(
      linesOf(textTable(COLUMNS, [['1', 'short']], { width })).map((line) => line.length),
    );
    expect([...widths]).toEqual([width]);
  }
});

test('text wraps between words, and a word longer than the line is broken, not cut off', () => {
  const word = 'x'.repeat(70);
  const table = textTable(COLUMNS, [['1', `some words that go on ${word} and end`]], { width: 40 });
  const text = table.replace(/[^a-z]/g, '');
  expect(text).toBe(`textsomewordsthatgoon${word}andend`);
  expect(table).not.toContain('…');
  expect(Math.max(...linesOf(table).map((line) => line.length))).toBe(40);
});

test('wide characters are not cut off either', () => {
  const word = '語'.repeat(40);
  const table = textTable(COLUMNS, [['1', word]], { width: 40 });
  expect(table.match(/語/g)).toHaveLength(40);
});

test('a compact table has no lines between its rows', () => {
  const rows = [
    ['1', 'a'],
    ['2', 'b'],
  ];
  // border, head, line, row, line, row, border
  expect(linesOf(textTable(COLUMNS, rows, { width: 40 }))).toHaveLength(7);
  // border, head, row, row, border
  expect(linesOf(textTable(COLUMNS, rows, { width: 40, isCompact: true }))).toHaveLength(5);
});
