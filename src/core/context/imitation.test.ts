import { describe, expect, test } from 'vitest';
import { guardAgainst, markImitations, markPlaces } from './imitation.ts';

const NOTHING = guardAgainst([], { dashedLines: false });
const DASHES = guardAgainst([], { dashedLines: true });
const PHRASE = guardAgainst(['Always follow this procedure:'], { dashedLines: false });

describe('lines of dashes', () => {
  test.each([
    ['---', '-\\--'],
    ['--- MEMORY', '-\\-- MEMORY'],
    ['text\n---', 'text\n-\\--'],
    ['   ---', '   -\\--'],
    ['\u00a0\u3000---', '\u00a0\u3000-\\--'],
    ['- - - x', '-\\ - - x'],
    ['–––', '–\\––'],
    ['———', '—\\——'],
    ['―――', '―\\――'],
    ['−−−', '−\\−−'],
    ['﹣﹣﹣', '﹣\\﹣﹣'],
    ['－－－', '－\\－－'],
    ['-–—', '-\\–—'],
    ['───', '─\\──'],
    ['⸻⸻⸻', '⸻\\⸻⸻'],
  ])('%j is marked', (text, marked) => {
    expect(markImitations(text, DASHES)).toBe(marked);
  });

  test.each(['-- x', '— Hola', '- item', 'a --- b', '|---|', '1---', ''])('%j is not', (text) => {
    expect(markImitations(text, DASHES)).toBe(text);
  });

  test('nothing is marked unless it is guarded against', () => {
    expect(markImitations('---\nAlways follow this procedure:', NOTHING)).toBe(
      '---\nAlways follow this procedure:',
    );
  });

  test('a content that brings the mark itself gets one more', () => {
    expect(markImitations('-\\--', DASHES)).toBe('-\\\\--');
    expect(markImitations('\\---', DASHES)).toBe('\\-\\--');
  });
});

describe('guarded texts', () => {
  test.each([
    ['as it is', 'Always follow this procedure:', 'Always\\ follow this procedure:'],
    ['inside a line', 'x Always follow this procedure: y', 'x Always\\ follow this procedure: y'],
    ['in capitals', 'ALWAYS FOLLOW THIS PROCEDURE', 'ALWAYS\\ FOLLOW THIS PROCEDURE'],
    ['decorated', '**Always** follow “this” procedure', '**Always\\** follow “this” procedure'],
    ['wrapped', 'Always follow\nthis procedure', 'Always\\ follow\nthis procedure'],
    ['spaced out', 'A l w a y s follow this procedure', 'A\\ l w a y s follow this procedure'],
    ['in full width', 'Ａｌｗａｙｓ　follow this procedure', 'Ａｌｗａｙｓ\\　follow this procedure'],
    ['with accents', 'Álways follow this procedure', 'Álways\\ follow this procedure'],
    [
      'with accents of their own',
      'A\u0301lways follow this procedure',
      'A\u0301lways\\ follow this procedure',
    ],
    ['already marked', 'Always\\ follow this procedure', 'Always\\\\ follow this procedure'],
    [
      'twice',
      'Always follow this procedure. Always follow this procedure.',
      'Always\\ follow this procedure. Always\\ follow this procedure.',
    ],
  ])('%s', (_name, text, marked) => {
    expect(markImitations(text, PHRASE)).toBe(marked);
  });

  test('one that is almost it is left alone', () => {
    expect(markPlaces('Always follow that procedure:', PHRASE)).toEqual([]);
  });

  test('each line of a text is guarded', () => {
    const guard = guardAgainst(['First line of two\nand the second one'], { dashedLines: false });
    expect(markImitations('and the second one', guard)).toBe('and\\ the second one');
  });

  test('nine letters count at the start of a line only', () => {
    const guard = guardAgainst(['Good to know:'], { dashedLines: false });
    expect(markImitations('> good to know: x\nIt is good to know.', guard)).toBe(
      '> good\\ to know: x\nIt is good to know.',
    );
  });

  test('four letters count as a whole line only', () => {
    const guard = guardAgainst(['Note:'], { dashedLines: false });
    expect(markImitations('note\nnotes\na note', guard)).toBe('note\\\nnotes\na note');
  });

  test('a fence without letters is guarded where it begins a line', () => {
    const guard = guardAgainst(['"""'], { dashedLines: false });
    expect(markImitations('"""\nsay """ aloud\n """x', guard)).toBe('"\\""\nsay """ aloud\n "\\""x');
  });

  test('a single sign counts as a whole line only', () => {
    const guard = guardAgainst(['-'], { dashedLines: false });
    expect(markImitations('- item\n-', guard)).toBe('- item\n-\\');
  });

  test('an empty line guards nothing', () => {
    const guard = guardAgainst(['', ' \n\\'], { dashedLines: false });
    expect(guard).toEqual({ letters: [], symbols: [], dashedLines: false });
  });
});

test('64 KiB of the worst kinds of line are read in a moment', () => {
  const guard = guardAgainst(['Always follow this procedure:', '"""'], { dashedLines: true });
  const worst = [' ', '\\', '- ', '-', '\n', '"', 'always', '\u200b', '一'];
  const started = performance.now();
  for (const piece of worst) markImitations(piece.repeat(65_536 / piece.length), guard);
  // 0.6 s in all on a slow machine; a search that goes back for every character takes minutes.
  expect(performance.now() - started).toBeLessThan(5000);
});
